package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang"
)

// Options are the dependencies of the server.
type Options struct {
	// Project are the options of every project; Dir is set for each.
	Project eval.Options
	// Pause is the delay between an edit and diagnostics; 0 means a delay that users do not notice.
	Pause time.Duration
}

// Error codes of the protocol besides those of JSON-RPC.
const (
	codeNotInitialized = -32002
	codeCancelled      = -32800
	codeFailed         = -32803
)

// server is one connection. The fields below mu are used by the goroutine that reads messages and by those
// of requests; a document is never changed.
type server struct {
	options  Options
	language lang.Language
	conn     *jsonrpc2.Conn
	ctx      context.Context
	work     sync.WaitGroup // waits for goroutines of spawn

	mu       sync.Mutex
	open     map[string]*document // by URI
	version  int                  // of all texts together
	renewed  int                  // how often others have written files
	latest   context.Context      // ends with version
	outdate  context.CancelFunc   // ends latest
	projects map[string]*project  // by directory
	running  map[jsonrpc2.ID]context.CancelFunc
	client   clientCapabilities
	over     bool

	stage   stage // used by the goroutine that takes messages
	orderly bool  // set before ended is called
	ended   context.CancelFunc
}

// stage is the stage of a connection's life.
type stage int

const (
	fresh stage = iota
	initialized
	shutDown
)

// Serve speaks the protocol until the client ends it, the streams end or ctx does. It reports
// whether the client shut the server down before.
func Serve(ctx context.Context, stream io.ReadWriteCloser, o Options) (orderly bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{
		options: o, language: lang.Describe(o.Project.Lang()), ctx: ctx, ended: cancel,
		open: map[string]*document{}, projects: map[string]*project{}, running: map[jsonrpc2.ID]context.CancelFunc{},
	}
	s.latest, s.outdate = context.WithCancel(ctx)
	if s.options.Pause == 0 {
		s.options.Pause = 25 * time.Millisecond
	}
	ready := make(chan struct{}) // conn is set before the first message is taken
	handler := handlerFunc(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) {
		<-ready
		s.handle(r)
	})
	s.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}), handler, jsonrpc2.SetLogger(silent{}))
	close(ready)
	select {
	case <-s.conn.DisconnectNotify():
	case <-ctx.Done():
	}
	cancel()
	s.conn.Close()
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.work.Wait()
	return s.orderly
}

// spawn starts a goroutine that Serve waits for. After the end of Serve, it does nothing.
func (s *server) spawn(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.work.Go(do)
	}
}

type handlerFunc func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request)

func (f handlerFunc) Handle(ctx context.Context, c *jsonrpc2.Conn, r *jsonrpc2.Request) { f(ctx, c, r) }

// silent keeps the library from writing to stderr.
type silent struct{}

func (silent) Printf(string, ...any) {}

// handle handles one message: a notification is finished when it returns, a request is started.
func (s *server) handle(r *jsonrpc2.Request) {
	if r.Notif {
		if handle := notifications[r.Method]; handle != nil && (s.stage == initialized || r.Method == "exit") {
			if _, err := s.guard(r.Method, func() (any, error) { return nil, handle(s, params(r)) }); err != nil {
				s.logError(err)
			}
		}
		return
	}
	switch {
	case r.Method == "initialize" && s.stage == fresh, r.Method == "shutdown" && s.stage == initialized:
		result, err := s.guard(r.Method, func() (any, error) {
			if r.Method == "shutdown" {
				s.stage = shutDown
				return nil, nil
			}
			return s.initialize(params(r))
		})
		s.reply(r.ID, result, err)
	case s.stage == fresh:
		s.reply(r.ID, nil, &jsonrpc2.Error{Code: codeNotInitialized, Message: "the first request is initialize"})
	case s.stage == shutDown || r.Method == "initialize":
		s.reply(r.ID, nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: r.Method + " is not possible now"})
	case requests[r.Method] == nil:
		s.reply(r.ID, nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "unknown method " + r.Method})
	default:
		s.begin(r)
	}
}

// begin answers a request in a goroutine, with the current texts.
func (s *server) begin(r *jsonrpc2.Request) {
	ctx, cancel := context.WithCancel(s.ctx)
	now := s.snapshot()
	s.mu.Lock()
	s.running[r.ID] = cancel
	s.mu.Unlock()
	s.spawn(func() {
		result, err := s.guard(r.Method, func() (any, error) { return requests[r.Method](ctx, s, now, params(r)) })
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		s.mu.Lock()
		delete(s.running, r.ID)
		s.mu.Unlock()
		cancel()
		s.reply(r.ID, result, err)
	})
}

// guard handles a message. A panic fails the request, not the server.
func (s *server) guard(method string, do func() (any, error)) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("bug in %s: %v", method, p)}
			if _, wanted := s.options.Project.Getenv("FEVALGRAPH_DEBUG"); wanted {
				err.(*jsonrpc2.Error).Message += "\n" + string(debug.Stack())
			}
		}
	}()
	return do()
}

func (s *server) reply(id jsonrpc2.ID, result any, err error) {
	var coded *jsonrpc2.Error
	switch {
	case err == nil:
		_ = s.conn.Reply(s.ctx, id, result) // the client can be gone
		return
	case errors.Is(err, context.Canceled):
		coded = &jsonrpc2.Error{Code: codeCancelled, Message: "cancelled"}
	case !errors.As(err, &coded):
		coded = &jsonrpc2.Error{Code: codeFailed, Message: err.Error()}
	}
	_ = s.conn.ReplyWithError(s.ctx, id, coded)
}

// logError writes an error to the client's log.
func (s *server) logError(err error) {
	_ = s.conn.Notify(s.ctx, "window/logMessage", map[string]any{"type": severityError, "message": err.Error()})
}

func (s *server) snapshot() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &snapshot{open: maps.Clone(s.open), version: s.version, renewed: s.renewed, latest: s.latest, disk: map[string]*document{}}
}

func params(r *jsonrpc2.Request) json.RawMessage {
	if r.Params == nil {
		return nil
	}
	return *r.Params
}

// decode reads the parameters of a message.
func decode[P any](raw json.RawMessage) (p P, err error) {
	if err := json.Unmarshal(raw, &p); err != nil {
		return p, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: err.Error()}
	}
	return p, nil
}
