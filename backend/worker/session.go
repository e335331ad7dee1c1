package worker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
)

// Backend returns the backend of the server.
func (c *Client) Backend() backend.Backend { return remoteBackend{c} }

type remoteBackend struct{ *Client }

func (b remoteBackend) Network() backend.Network { return b.attached.Network }

func (b remoteBackend) Identity(ctx context.Context) (backend.Identity, error) {
	f, err := b.fact(ctx, facts.Identity)
	return f.Identity, err
}

func (c *Client) fact(ctx context.Context, what string) (f facts.Fact, err error) {
	err = c.ask(ctx, pathAsk, askRequest{What: what}, &f)
	return f, err
}

func (b remoteBackend) Capabilities() backend.Capabilities {
	return backend.Capabilities{
		Python: python(b), OwnFiles: true,
		BareIdentity: func(ctx context.Context) (backend.Identity, error) {
			f, err := b.fact(ctx, facts.Bare)
			return f.Identity, err
		},
		Programs: func(ctx context.Context, words []string) (backend.Identity, error) {
			f, err := b.fact(ctx, facts.Programs+strings.Join(words, " "))
			return f.Identity, err
		},
		Isolation: func() string { return b.attached.Level },
		GPU:       func(context.Context) error { return b.attached.GPU.Err() },
	}
}

type python struct{ *Client }

func (p python) Interpreter(ctx context.Context) (path, version string, err error) {
	f, err := p.fact(ctx, facts.Interpreter)
	return f.Path, f.Text, err
}

func (p python) Platform(ctx context.Context) (string, error) {
	f, err := p.fact(ctx, facts.Platform)
	return f.Text, err
}

// Prepare implements backend.Backend. Sessions share the files of the server's machine.
func (b remoteBackend) Prepare(ctx context.Context, name string, cmd backend.Command) (snapshot string, exit backend.Exit, err error) {
	s, err := b.open(ctx, openRequest{Spec: backend.Spec{Name: "prepare"}, Prepare: name})
	if s != nil {
		defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	}
	if err != nil {
		return "", backend.Exit{}, err
	}
	exit, err = s.Exec(ctx, cmd)
	return "", exit, err
}

// Open implements backend.Backend.
func (b remoteBackend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	var s *session
	err := b.withBlobs(ctx, inputsOf(spec.Inputs), func() (err error) {
		s, err = b.open(ctx, openRequest{Spec: spec})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening session: %w", err)
	}
	return s, nil
}

func (c *Client) open(ctx context.Context, ask openRequest) (*session, error) {
	s := &session{c: c, id: rand.Text(), opens: ask}
	var r callResult
	err := c.ask(ctx, pathSessions+s.id, ask, &r)
	if err == nil {
		err = r.Failure.Err()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close(context.WithoutCancel(ctx)))
	}
	s.dir = r.Dir
	return s, nil
}

// reopen replaces an adopted session, which made other calls, by a new session. The caller has seen
// nothing of that yet, not even its directory.
func (s *session) reopen(ctx context.Context) error {
	return s.c.withBlobs(ctx, inputsOf(s.opens.Spec.Inputs), func() error {
		other, err := s.c.open(ctx, s.opens)
		if err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.id, s.dir = other.id, other.dir
		return nil
	})
}

// session is a session on the server.
type session struct {
	c     *Client
	opens openRequest

	mu       sync.Mutex
	id, dir  string
	dirKnown bool // the caller knows dir
	next     int  // number of the next call
	closed   bool
}

// Dir implements backend.Session.
func (s *session) Dir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirKnown = true
	return s.dir
}

// Place implements backend.Session.
func (s *session) Place(ctx context.Context, inputs ...backend.Input) error {
	if len(inputs) == 0 {
		return nil
	}
	return s.c.withBlobs(ctx, inputsOf(inputs), func() error {
		_, err := s.call(ctx, callRequest{Place: inputs}, nil)
		return err
	})
}

// Exec implements backend.Session.
func (s *session) Exec(ctx context.Context, cmd backend.Command) (backend.Exit, error) {
	if cmd.Attach {
		return backend.Exit{}, errors.New("a command on a worker cannot be attached to a terminal")
	}
	writers := map[byte]io.Writer{frameOutput: cmd.Output, frameErrors: cmd.Errors, frameNotes: cmd.Notes}
	ask := callRequest{Apart: cmd.Errors != nil}
	cmd.Output, cmd.Errors, cmd.Notes = nil, nil, nil
	ask.Exec = &cmd
	var failed error // of a writer, which must not end the command
	r, err := s.call(ctx, ask, func(kind byte, data []byte) error {
		if w := writers[kind]; w != nil && failed == nil {
			_, failed = w.Write(data)
		}
		return nil
	})
	return r.Exit, errors.Join(err, failed)
}

// Collect implements backend.Session.
func (s *session) Collect(ctx context.Context, path string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(ctx)
	r, w := io.Pipe()
	started := make(chan error, 1) // returns an error if the file is missing
	go func() {
		begun := false
		_, err := s.call(ctx, callRequest{Collect: &path}, func(_ byte, data []byte) error {
			if !begun {
				begun = true
				started <- nil
			}
			_, err := w.Write(data)
			return err
		})
		if !begun {
			started <- err
		}
		w.CloseWithError(err) // nil is the end of the file
	}()
	if err := <-started; err != nil {
		cancel()
		return nil, err
	}
	return &collectedFile{r, cancel}, nil
}

// collectedFile is a file in transfer.
type collectedFile struct {
	*io.PipeReader
	cancel context.CancelFunc
}

func (f *collectedFile) Close() error {
	f.cancel()
	return f.PipeReader.Close()
}

// Verify implements backend.Session.
func (s *session) Verify(ctx context.Context) error {
	_, err := s.call(ctx, callRequest{Verify: true}, nil)
	return err
}

// lastWord limits how long a cancelled call, or a closing session, can take to report its end. A local
// command gets two seconds.
const lastWord = 20 * time.Second

// call makes the session's next call and passes on its frames. If ctx is cancelled, it cancels the call on
// the server and waits for its end.
func (s *session) call(ctx context.Context, ask callRequest, hand func(kind byte, data []byte) error) (callResult, error) {
	if ctx.Err() != nil {
		return callResult{}, context.Cause(ctx)
	}
	s.mu.Lock()
	n, closed, told, id := s.next, s.closed, s.dirKnown, s.id
	s.next++
	s.mu.Unlock()
	if closed {
		return callResult{}, fmt.Errorf("session: %w", fs.ErrClosed)
	}
	r, err := s.c.call(ctx, id, n, ask, hand)
	if n > 0 || told || !errors.Is(err, errOtherWork) {
		return r, err
	}
	if err := s.reopen(ctx); err != nil {
		return callResult{}, err
	}
	return s.c.call(ctx, s.id, n, ask, hand)
}

// call makes a call with a known number in a session.
func (c *Client) call(ctx context.Context, id string, n int, ask callRequest, hand func(kind byte, data []byte) error) (callResult, error) {
	path := pathSessions + id + suffixCalls + strconv.Itoa(n)
	patient, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	defer giveUp(nil)
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(lastWord, func() { giveUp(context.Cause(ctx)) })
		if err := c.repeat(patient, http.MethodDelete, path, nil, func(*http.Response) error { return nil }); err != nil {
			giveUp(err)
		}
	})
	defer stop()
	var result callResult
	var from int64
	body := encode(ask)
	err := c.persist(patient, func() error {
		before := from
		err := c.sendBody(patient, http.MethodPost, fmt.Sprintf("%s?from=%d", path, from), body, func(r *http.Response) error {
			return readCall(r.Body, &from, &result, hand)
		})
		if cut := (*cutError)(nil); errors.As(err, &cut) {
			cut.progress = from > before
		}
		return err
	})
	if ctx.Err() != nil {
		return callResult{}, context.Cause(ctx)
	}
	if err == nil {
		err = result.Failure.Err()
	}
	return result, err
}

// readCall passes on frames up to the result. It sets from to the offset of the next frame.
func readCall(r io.Reader, from *int64, result *callResult, hand func(kind byte, data []byte) error) error {
	var buffer []byte
	for {
		kind, data, err := readFrame(r, &buffer)
		if err != nil {
			return &cutError{err: err}
		}
		*from += int64(frameHeader + len(data))
		if kind == frameResult {
			return decode(data, result)
		}
		if hand != nil {
			if err := hand(kind, data); err != nil {
				return err
			}
		}
	}
}

// Close implements backend.Session.
func (s *session) Close(ctx context.Context) error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	id := s.id
	s.mu.Unlock()
	if closed {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*lastWord)
	defer cancel()
	var r callResult
	err := s.c.repeat(ctx, http.MethodDelete, pathSessions+id, nil, func(response *http.Response) error { return readJSON(response.Body, &r) })
	if gone := (*backend.PreemptedError)(nil); errors.As(err, &gone) {
		return nil // the session is lost with the machine
	}
	if err == nil {
		err = r.Failure.Err()
	}
	return err
}
