package worker

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Host is the machine of a server.
type Host struct {
	Store   cache.Store     // of inputs, and of outputs of sandboxes
	Backend backend.Backend // which reads from Store
	Sandbox backend.Sandbox // reads from Store, too; nil means no sandbox
	// Environments is the directory of Python environments that sessions share.
	Environments string
	// Tools are variables, KEY=value, with locations of programs on this machine. They are added to commands
	// that do not set them.
	Tools []string
	// Spool is a directory for output of commands.
	Spool string
}

// ServerOptions configures a Server.
type ServerOptions struct {
	// Token is required in every request.
	Token string
	// Abandon limits how long a client can be silent before its sessions are ended; 0 means ten minutes.
	Abandon time.Duration
}

// Server is an http.Handler for one client at a time.
type Server struct {
	host    Host
	token   [sha256.Size]byte
	abandon time.Duration

	mu          sync.Mutex
	client      string          // attached last
	replaced    map[string]bool // clients that attached before it, whose requests can be replayed
	tenure      context.Context // ends when another client attaches
	evict       context.CancelFunc
	attachedAt  time.Time // when client first attached
	lastRequest time.Time // any request
	busy        int       // requests that are being answered
	sessions    map[string]*hostedSession
	ended       map[string]bool // sessions that client closed, whose requests can be replayed
	closed      bool

	answering sync.WaitGroup // busy
}

// NewServer returns a server of a machine.
func NewServer(h Host, o ServerOptions) *Server {
	return &Server{host: h, token: sha256.Sum256([]byte(o.Token)), abandon: cmp.Or(o.Abandon, 10*time.Minute), lastRequest: time.Now(), replaced: map[string]bool{}, sessions: map[string]*hostedSession{}, evict: func() {}}
}

// Wait waits until no client has sent a request for Abandon, or until ctx ends. The caller must then close
// the server. Meanwhile it ends sessions that were left to another client and that no client opened for
// that time.
func (s *Server) Wait(ctx context.Context) error {
	for {
		s.mu.Lock()
		left, current := s.abandon-time.Since(s.lastRequest), s.client
		if s.busy > 0 {
			left = s.abandon
		}
		unclaimed := time.Since(s.attachedAt) >= s.abandon
		s.mu.Unlock()
		if left <= 0 {
			return nil
		}
		if unclaimed {
			if err := s.end(ctx, func(h *hostedSession) bool { return h.client != current }); err != nil {
				return err
			}
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close ends all sessions. All later requests are refused.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.end(ctx, func(*hostedSession) bool { return true })
}

// end closes the sessions that which selects.
func (s *Server) end(ctx context.Context, which func(*hostedSession) bool) error {
	s.mu.Lock()
	var ending []*hostedSession
	for id, h := range s.sessions {
		if which(h) {
			ending = append(ending, h)
			delete(s.sessions, id)
		}
	}
	s.mu.Unlock()
	errs := make([]error, len(ending))
	var all sync.WaitGroup
	for i, h := range ending {
		all.Go(func() { errs[i] = h.close(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// maxRequest limits the body of a request that is not a stream: inputs can contain content.
const maxRequest = 256 << 20

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	given := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	if subtle.ConstantTimeCompare(given[:], s.token[:]) != 1 {
		answer(w, http.StatusUnauthorized, &Failure{Text: "the token is not that of the worker"})
		return
	}
	client := r.Header.Get(clientHeader)
	tenure, err := s.begin(client, r.URL.Path == pathAttach)
	if err != nil {
		answer(w, http.StatusConflict, FailureOf(err))
		return
	}
	defer s.done()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(tenure, cancel)()
	w, r = &tenant{w, tenure}, r.WithContext(ctx)
	switch path := r.URL.Path; {
	case path == pathBlobs:
		err = s.receive(r)
	case strings.HasPrefix(path, pathBlob) && path != pathMissing:
		err = s.send(w, r, strings.TrimPrefix(path, pathBlob))
	case strings.HasPrefix(path, pathSessions):
		s.inSession(w, r, client, strings.TrimPrefix(path, pathSessions))
		return
	default:
		var body []byte
		if body, err = readBody(w, r); err == nil {
			err = s.answerOne(w, r, body)
		}
	}
	if err != nil {
		answer(w, http.StatusInternalServerError, FailureOf(err))
	}
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(encode(v)) // if the client is gone, it will ask again
}

// tenant writes a client's answer. It writes nothing after another client has taken over, which might own
// the session that the answer is about: the earlier client must not use it for a verdict.
type tenant struct {
	http.ResponseWriter
	tenure context.Context
}

func (t *tenant) Unwrap() http.ResponseWriter { return t.ResponseWriter }

func (t *tenant) WriteHeader(status int) {
	t.check()
	t.ResponseWriter.WriteHeader(status)
}

func (t *tenant) Write(p []byte) (int, error) {
	t.check()
	return t.ResponseWriter.Write(p)
}

func (t *tenant) check() {
	if t.tenure.Err() != nil {
		panic(http.ErrAbortHandler) // the client asks again and learns why
	}
}

var errTaken = errors.New("another run of fevalgraph took over this worker")

// begin notes the time of a request. The client of an attachRequest becomes the server's client.
func (s *Server) begin(client string, attaches bool) (tenure context.Context, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, errEnded
	case attaches && client != s.client && !s.replaced[client]:
		s.evict()
		s.replaced[s.client] = true
		s.client, s.attachedAt, s.ended = client, time.Now(), map[string]bool{}
		s.tenure, s.evict = context.WithCancel(context.Background())
	case s.client == "":
		return nil, errRestarted
	case client != s.client:
		return nil, errTaken
	}
	s.lastRequest = time.Now()
	s.busy++
	s.answering.Add(1)
	return s.tenure, nil
}

func (s *Server) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastRequest = time.Now()
	s.busy--
	s.answering.Done()
}

// answerOne answers requests with a single answer.
func (s *Server) answerOne(w http.ResponseWriter, r *http.Request, body []byte) (err error) {
	var reply any
	switch r.URL.Path {
	case pathAttach:
		reply, err = decoded(r.Context(), body, s.attach)
	case pathAsk:
		reply, err = decoded(r.Context(), body, s.ask)
	case pathMissing:
		reply, err = decoded(r.Context(), body, s.missing)
	case pathPrograms:
		reply, err = decoded(r.Context(), body, s.run)
	default:
		err = fmt.Errorf("the worker has no path %q", r.URL.Path)
	}
	if err == nil {
		answer(w, http.StatusOK, reply)
	}
	return err
}

func decoded[Q, A any](ctx context.Context, body []byte, do func(context.Context, Q) (A, error)) (any, error) {
	var ask Q
	if err := json.Unmarshal(body, &ask); err != nil {
		return nil, fmt.Errorf("reading a request: %w", err)
	}
	return do(ctx, ask)
}

func (s *Server) attach(ctx context.Context, ask attachRequest) (*attachAnswer, error) {
	if ask.Protocol != Protocol {
		return nil, fmt.Errorf("the worker speaks protocol %d, not %d: both ends must have the same version of fevalgraph", Protocol, ask.Protocol)
	}
	can := s.host.Backend.Capabilities()
	a := &attachAnswer{Network: s.host.Backend.Network(), Level: can.Level(), Sandbox: s.host.Sandbox != nil}
	if can.GPU != nil {
		a.GPU = FailureOf(can.GPU(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.sessions {
		if h.client != s.client && h.isIntact() {
			a.Orphans = append(a.Orphans, h.asked)
		}
	}
	return a, nil
}

func (s *Server) ask(ctx context.Context, ask askRequest) (facts.Fact, error) {
	if ask.What == askAlive {
		return facts.Fact{}, nil
	}
	return facts.Ask(ctx, s.host.Backend, s.host.Sandbox, ask.What)
}

// inSession answers requests about one session: "id" or "id/calls/n".
func (s *Server) inSession(w http.ResponseWriter, r *http.Request, client, path string) {
	id, number, isCall := strings.Cut(path, suffixCalls)
	switch {
	case !isCall && r.Method == http.MethodDelete:
		s.mu.Lock()
		s.ended[id] = true
		s.mu.Unlock()
		err := s.end(context.WithoutCancel(r.Context()), func(h *hostedSession) bool { return h.id == id && h.client == client })
		answer(w, http.StatusOK, callResult{Failure: FailureOf(err)})
	case !isCall:
		answer(w, http.StatusOK, s.open(w, r, client, id))
	default:
		s.mu.Lock()
		h := s.sessions[id]
		if h != nil && h.client != client {
			h = nil
		}
		s.mu.Unlock()
		n, err := strconv.Atoi(number)
		if h == nil || err != nil || n < 0 {
			answer(w, http.StatusNotFound, &Failure{Text: "the session no longer exists on the worker", Gone: true})
			return
		}
		s.inCall(w, r, h, n)
	}
}

// open finds the session of an id, or a session that an earlier client left and that began in the same way,
// or makes it.
func (s *Server) open(w http.ResponseWriter, r *http.Request, client, id string) callResult {
	body, err := readBody(w, r)
	var ask openRequest
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	if err != nil {
		return callResult{Failure: FailureOf(err)}
	}
	h := s.find(client, id, sha256.Sum256(body), ask)
	if h == nil {
		return callResult{Failure: FailureOf(errEnded)}
	}
	dir, err := h.dir(r.Context())
	if err != nil && r.Context().Err() == nil { // so that another attempt opens a new one
		err = errors.Join(err, s.end(context.Background(), func(other *hostedSession) bool { return other == h }))
	}
	return callResult{Dir: dir, Failure: FailureOf(err)}
}

func (s *Server) find(client, id string, asked [sha256.Size]byte, ask openRequest) *hostedSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.ended[id] {
		return nil
	}
	if h := s.sessions[id]; h != nil {
		return h
	}
	for old, h := range s.sessions {
		if h.client != client && h.asked == asked && h.refusedClient != client && h.isIntact() {
			delete(s.sessions, old)
			h.id, h.client = id, client
			h.adopted.Store(true)
			s.sessions[id] = h
			return h
		}
	}
	ctx, giveUp := context.WithCancel(context.Background()) // a broken connection must not end the session
	h := &hostedSession{id: id, asked: asked, client: client, host: &s.host, opened: make(chan struct{}), giveUp: giveUp, prepare: ask.Prepare}
	s.sessions[id] = h
	go h.open(ctx, ask.Spec) // close waits for it
	return h
}

// disown gives an adopted session back after its client made other calls. It stays for another client
// until it is abandoned.
func (s *Server) disown(h *hostedSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.refusedClient, h.client = h.client, ""
}

// inCall sends the frames of a call from an offset on, and starts the call if it is new.
func (s *Server) inCall(w http.ResponseWriter, r *http.Request, h *hostedSession, n int) {
	if r.Method == http.MethodDelete {
		h.cancel(n)
		answer(w, http.StatusOK, struct{}{})
		return
	}
	body, err := readBody(w, r)
	var ask callRequest
	if err == nil {
		err = json.Unmarshal(body, &ask)
	}
	var c *call
	if err == nil {
		c, err = h.call(r.Context(), n, body, ask)
	}
	if errors.Is(err, errOtherWork) {
		s.disown(h)
	}
	if err != nil {
		answer(w, http.StatusConflict, FailureOf(err))
		return
	}
	from, err := strconv.ParseInt(cmp.Or(r.URL.Query().Get("from"), "0"), 10, 64)
	if err != nil || from < 0 {
		answer(w, http.StatusBadRequest, &Failure{Text: "bad offset"})
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	control := http.NewResponseController(w)
	sent := &countingWriter{w: w}
	err = c.spool.copy(r.Context(), sent, func() { control.Flush() }, from)
	switch {
	case err == nil:
	case sent.n == 0 && r.Context().Err() == nil:
		answer(w, http.StatusInternalServerError, FailureOf(err))
	default:
		panic(http.ErrAbortHandler) // the client must not mistake it for the end
	}
}

type countingWriter struct {
	w io.Writer
	n int
}

func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += n
	return n, err
}
