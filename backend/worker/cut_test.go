//go:build unix

package worker_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/backend/worker"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// line is a connection to a server that a test can cut.
type line struct {
	dial func(ctx context.Context) (net.Conn, error)

	mu    sync.Mutex
	down  bool
	quota int64 // limit on bytes of a connection; 0 means none
	conns []net.Conn
}

func (l *line) Dial(ctx context.Context) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return nil, errors.New("the line is down")
	}
	c, err := l.dial(ctx)
	if err != nil {
		return nil, err
	}
	l.conns = append(l.conns, c)
	return &lineConn{Conn: c, left: l.quota, limited: l.quota > 0}, nil
}

func (l *line) dials() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// cut ends all connections, and keeps new ones from being made if it stays down.
func (l *line) cut(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down, l.quota = down, 0
	for _, c := range l.conns {
		c.Close()
	}
}

type lineConn struct {
	net.Conn
	left    int64
	limited bool
}

func (c *lineConn) Read(p []byte) (int, error) {
	if !c.limited {
		return c.Conn.Read(p)
	}
	if c.left <= 0 {
		c.Conn.Close()
		return 0, errors.New("the line was cut")
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// lineTo puts a line between a client and a server.
func lineTo(o worker.ClientOptions) (worker.ClientOptions, *line) {
	l := &line{dial: o.Dial}
	o.Dial = l.Dial
	return o, l
}

// open opens a session that is closed, or left, at the end of the test.
func open(t *testing.T, c *worker.Client, name string) backend.Session {
	t.Helper()
	s, err := c.Backend().Open(t.Context(), backend.Spec{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func numbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

// TestCutOutput cuts connections in the middle of a command's output.
func TestCutOutput(t *testing.T) {
	t.Parallel()
	want := numbers(100_000)
	b := fake.New(cache.NewMemory(), func(_ context.Context, c *fake.Call) (backend.Exit, error) {
		_, err := io.Copy(c.Command.Output, iotestChunks(want))
		return backend.Exit{Code: 7}, err
	})
	o, _ := serve(t, worker.Host{Store: cache.NewMemory(), Backend: b})
	o, l := lineTo(o)
	c := connect(t, cache.NewMemory(), o)
	s := open(t, c, "a")
	defer s.Close(t.Context())
	l.mu.Lock()
	l.quota = 100_000
	l.mu.Unlock()
	l.conns[0].Close() // the one without a quota
	var got bytes.Buffer
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"x"}, Output: &got})
	if err != nil || exit.Code != 7 {
		t.Fatalf("got %+v, %v", exit, err)
	}
	if got.String() != want {
		t.Errorf("%d bytes of output arrived, %d were printed, or they differ", got.Len(), len(want))
	}
	if b.Execs() != 1 {
		t.Errorf("the command ran %d times", b.Execs())
	}
	if l.dials() < 5 {
		t.Errorf("only %d connections", l.dials())
	}
}

// iotestChunks returns a reader that gives out a few bytes at a time.
func iotestChunks(text string) io.Reader {
	return struct{ io.Reader }{&chunks{strings.NewReader(text)}}
}

type chunks struct{ r io.Reader }

func (c *chunks) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), 4000)]) }

// slowly is a backend whose commands print a line and wait for the test, by the first word.
type slowly struct {
	*fake.Backend
	started chan string
	finish  chan struct{}
	ended   atomic.Int32 // commands that were cancelled
}

func newSlowly() *slowly {
	s := &slowly{started: make(chan string, 16), finish: make(chan struct{})}
	s.Backend = fake.New(cache.NewMemory(), func(ctx context.Context, c *fake.Call) (backend.Exit, error) {
		word := c.Command.Argv[0]
		fmt.Fprintln(c.Command.Output, word)
		if word == "quick" {
			return backend.Exit{Code: 5}, nil
		}
		s.started <- word
		select {
		case <-s.finish:
			return backend.Exit{Code: 3}, nil
		case <-ctx.Done():
			s.ended.Add(1)
			return backend.Exit{}, context.Cause(ctx)
		}
	})
	return s
}

// TestTakenOver: a client disconnects while its command runs, and another client requests the same.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	b := newSlowly()
	o, _ := serve(t, worker.Host{Store: cache.NewMemory(), Backend: b})
	first := connect(t, cache.NewMemory(), o)
	old := open(t, first, "a")
	if exit, err := old.Exec(t.Context(), backend.Command{Argv: []string{"quick"}}); err != nil || exit.Code != 5 {
		t.Fatalf("got %+v, %v", exit, err)
	}
	lost := make(chan error, 1)
	go func() {
		exit, err := old.Exec(context.Background(), backend.Command{Argv: []string{"slow"}})
		if err == nil {
			err = fmt.Errorf("the first client got %+v", exit)
		} else if gone := (*backend.PreemptedError)(nil); errors.As(err, &gone) || !strings.Contains(err.Error(), "took this worker over") {
			err = fmt.Errorf("the first client got %w", err)
		} else {
			err = nil
		}
		lost <- err
	}()
	<-b.started

	second := connect(t, cache.NewMemory(), o)
	if !second.Orphaned(backend.Spec{Name: "a"}) || second.Orphaned(backend.Spec{Name: "b"}) {
		t.Error("the second client does not find the first one's session")
	}
	if err := <-lost; err != nil {
		t.Error(err)
	}
	s := open(t, second, "a")
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"quick"}})
	if err != nil || exit.Code != 5 {
		t.Errorf("the first call: %+v, %v", exit, err)
	}
	close(b.finish)
	var got bytes.Buffer
	exit, err = s.Exec(t.Context(), backend.Command{Argv: []string{"slow"}, Output: &got})
	if err != nil || exit.Code != 3 || got.String() != "slow\n" {
		t.Errorf("the second call: %+v, %v, printed %q", exit, err, got.String())
	}
	if b.Execs() != 2 || b.Opens() != 1 {
		t.Errorf("%d commands ran in %d sessions", b.Execs(), b.Opens())
	}
	if err := s.Close(t.Context()); err != nil || b.Closes() != 1 {
		t.Errorf("closing: %v, %d are closed", err, b.Closes())
	}
	if err := old.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "took this worker over") {
		t.Errorf("closing the first client's session: %v", err)
	}
}

// TestLateAnswer: a client is replaced while the server does other work for it.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	there, here := cache.NewMemory(), cache.NewMemory()
	started, finish := make(chan struct{}), make(chan struct{})
	sandbox := fake.NewSandbox(there, func(context.Context, *fake.Process) (backend.Ending, error) {
		close(started)
		<-finish
		return backend.Ending{}, nil
	})
	o, _ := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil), Sandbox: sandbox})
	first := connect(t, here, o)
	done := make(chan error, 1)
	go func() {
		_, err := first.Sandbox().Run(context.Background(), backend.Program{Argv: []string{"x"}, Files: []backend.File{{Path: "x", Content: []byte("a program")}}})
		done <- err
	}()
	<-started
	connect(t, here, o)
	close(finish)
	if err := <-done; err == nil || !strings.Contains(err.Error(), "took this worker over") {
		t.Errorf("the first client got %v", err)
	}
}

// TestOtherWork: a second client with other work gets a separate session, and the first one's is ended in the
// end.
func TestOtherWork(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	for _, test := range []struct {
		name, spec, word string
		look             bool // at the session's directory, before the call
	}{
		{"spec", "b", "quick", false},
		{"command", "a", "quick", false},
		{"command whose directory is known", "a", "quick", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newSlowly()
			o, _, _ := serveFor(t, worker.Host{Store: cache.NewMemory(), Backend: b}, 3*time.Second)
			o.Beat = 20 * time.Millisecond
			o, l := lineTo(o)
			first := connect(t, cache.NewMemory(), o)
			old := open(t, first, "a")
			gone := make(chan struct{})
			defer func() { <-gone }()
			defer l.cut(false) // it learns that another has taken over
			go func() {
				defer close(gone)
				old.Exec(context.Background(), backend.Command{Argv: []string{"slow"}})
			}()
			<-b.started
			l.cut(true)
			o.Dial = l.dial
			second := connect(t, cache.NewMemory(), o)
			s := open(t, second, test.spec)
			if test.look {
				s.Dir()
				_, err := s.Exec(t.Context(), backend.Command{Argv: []string{test.word}})
				if lost := (*backend.PreemptedError)(nil); !errors.As(err, &lost) {
					t.Errorf("the caller could have used the other session's directory, and got %v", err)
				}
				s.Close(t.Context())
				s = open(t, second, test.spec) // as a retried node does
			}
			exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{test.word}})
			if err != nil || exit.Code != 5 {
				t.Errorf("got %+v, %v", exit, err)
			}
			if b.Opens() != 2 {
				t.Errorf("%d sessions were opened", b.Opens())
			}
			await.Until(t, "the session that no client wants is ended", func() bool { return b.Closes() == 1 && b.ended.Load() == 1 })
			if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"quick"}}); err != nil {
				t.Errorf("the session that is wanted: %v", err)
			}
		})
	}
}

// TestCancelledIsNotOffered does not hand a command that its client cancelled to the next one.
func TestCancelledIsNotOffered(t *testing.T) {
	t.Parallel()
	b := newSlowly()
	o, _ := serve(t, worker.Host{Store: cache.NewMemory(), Backend: b})
	s := open(t, connect(t, cache.NewMemory(), o), "a")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by hand")
	go func() {
		<-b.started
		cancel(stopped)
	}()
	if _, err := s.Exec(ctx, backend.Command{Argv: []string{"slow"}}); !errors.Is(err, stopped) {
		t.Fatalf("a cancelled command: %v", err)
	}
	if b.ended.Load() != 1 {
		t.Error("the command was not ended there")
	}
	if exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"quick"}}); err != nil || exit.Code != 5 {
		t.Errorf("the session's next command: %+v, %v", exit, err)
	}
	second := connect(t, cache.NewMemory(), o)
	if second.Orphaned(backend.Spec{Name: "a"}) {
		t.Error("the session is offered")
	}
	go close(b.finish)
	exit, err := open(t, second, "a").Exec(t.Context(), backend.Command{Argv: []string{"slow"}})
	if err != nil || exit.Code != 3 {
		t.Errorf("another client got %+v, %v", exit, err)
	}
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	o, _ := serve(t, worker.Host{Store: cache.NewMemory(), Backend: fake.New(cache.NewMemory(), nil)})
	for _, test := range []struct {
		name, want string
		wrong      func(*worker.ClientOptions)
	}{
		{"token", "the token is not that of the worker", func(o *worker.ClientOptions) { o.Token = "x" }},
		{"certificate", "the certificate is not that of the worker", func(o *worker.ClientOptions) { o.Certificate = sha256.Sum256(nil) }},
	} {
		o, l := lineTo(o)
		test.wrong(&o)
		o.Patience = time.Hour
		if _, err := worker.Connect(t.Context(), cache.NewMemory(), o); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
		if l.dials() != 1 {
			t.Errorf("%s: %d attempts", test.name, l.dials())
		}
	}
}

// TestLost: a lost server is an error of the machine, for any reason.
func TestLost(t *testing.T) {
	t.Parallel()
	answered := errors.New("the provider knows better")
	for _, test := range []struct {
		name string
		lose func(t *testing.T, l *line, end func())
		o    worker.ClientOptions
		want error // nil: a PreemptedError
	}{
		{name: "restarted", lose: func(t *testing.T, l *line, end func()) {
			end()
			again, _ := serve(t, worker.Host{Store: cache.NewMemory(), Backend: fake.New(cache.NewMemory(), nil)})
			l.mu.Lock()
			defer l.mu.Unlock()
			l.dial = again.Dial
		}},
		{name: "ended", lose: func(_ *testing.T, _ *line, end func()) { end() }, o: worker.ClientOptions{Patience: 50 * time.Millisecond}},
		{name: "out of reach", lose: func(_ *testing.T, l *line, _ func()) { l.cut(true) }, o: worker.ClientOptions{Patience: 50 * time.Millisecond}},
		{name: "known to be gone", lose: func(_ *testing.T, l *line, _ func()) { l.cut(true) },
			o: worker.ClientOptions{Unreachable: func(context.Context, error) error { return answered }}, want: answered},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := newSlowly()
			o, _, end := serveFor(t, worker.Host{Store: cache.NewMemory(), Backend: b}, 0)
			o.Patience, o.Unreachable = test.o.Patience, test.o.Unreachable
			o, l := lineTo(o)
			c := connect(t, cache.NewMemory(), o)
			s := open(t, c, "a")
			failed := make(chan error, 1)
			go func() {
				exit, err := s.Exec(context.Background(), backend.Command{Argv: []string{"slow"}})
				if err == nil {
					err = fmt.Errorf("a verdict: %+v", exit)
				}
				failed <- err
			}()
			<-b.started
			test.lose(t, l, end)
			check := func(what string, err error) {
				t.Helper()
				lost := (*backend.PreemptedError)(nil)
				if test.want != nil && !errors.Is(err, test.want) || test.want == nil && !errors.As(err, &lost) {
					t.Errorf("%s: %v", what, err)
				}
			}
			check("a command that ran", <-failed)
			_, err := s.Exec(t.Context(), backend.Command{Argv: []string{"quick"}})
			check("the next one", err)
			_, err = c.Backend().Open(t.Context(), backend.Spec{})
			check("another session", err)
			if test.want != nil {
				return
			}
			if err := s.Close(t.Context()); err != nil {
				t.Errorf("closing the session, which went with the machine: %v", err)
			}
		})
	}
}

// TestEnds: the server ends, with its sessions, when no client is connected.
func TestEnds(t *testing.T) {
	t.Parallel()
	b := newSlowly()
	access, certificate, err := worker.NewAccess()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := worker.NewServer(worker.Host{Store: cache.NewMemory(), Backend: b, Spool: t.TempDir()}, worker.ServerOptions{Token: access.Token, Abandon: 2 * time.Second})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(context.Background(), listener, certificate) }()
	o := worker.ClientOptions{Access: access, Beat: 10 * time.Millisecond, Patience: time.Millisecond, Dial: func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", listener.Addr().String())
	}}
	o, l := lineTo(o)
	c := connect(t, cache.NewMemory(), o)
	s := open(t, c, "a")
	failed := make(chan error, 1)
	go func() {
		_, err := s.Exec(context.Background(), backend.Command{Argv: []string{"slow"}})
		failed <- err
	}()
	<-b.started
	select {
	case err := <-ended:
		t.Fatalf("it ended while a client lived: %v", err)
	default:
	}
	l.cut(true)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if lost := (*backend.PreemptedError)(nil); !errors.As(<-failed, &lost) {
		t.Error("the client did not report the machine as lost")
	}
	if b.Closes() != 1 || b.ended.Load() != 1 {
		t.Errorf("%d sessions are closed, %d commands ended", b.Closes(), b.ended.Load())
	}
}
