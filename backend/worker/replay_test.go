//go:build unix

package worker_test

import (
	"bytes"
	"context"
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
)

// frail are connections that break after some bytes have been read from them.
type frail struct {
	dial  func(context.Context) (net.Conn, error)
	after int64
	dials atomic.Int64
	mu    sync.Mutex
	open  []net.Conn
}

func (f *frail) Dial(ctx context.Context) (net.Conn, error) {
	f.dials.Add(1)
	c, err := f.dial(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open = append(f.open, c)
	return &frailConn{c, f.after}, nil
}

// cut breaks all connections, and those to come.
func (f *frail) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dial = func(context.Context) (net.Conn, error) { return nil, errors.New("cut") }
	for _, c := range f.open {
		c.Close()
	}
}

type frailConn struct {
	net.Conn
	left int64
}

func (c *frailConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		c.Close()
		return 0, io.ErrUnexpectedEOF
	}
	n, err := c.Conn.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// A connection that breaks again and again loses nothing and repeats nothing.
func TestCutConnection(t *testing.T) {
	t.Parallel()
	there := cache.NewMemory()
	text := strings.Repeat("0123456789abcdef\n", 20000)
	b := fake.New(there, func(_ context.Context, c *fake.Call) (backend.Exit, error) {
		_, err := io.WriteString(c.Command.Output, text)
		return backend.Exit{Code: 3}, err
	})
	o, _ := serve(t, worker.Host{Store: there, Backend: b})
	f := &frail{dial: o.Dial, after: 60_000}
	o.Dial = f.Dial
	s, err := connect(t, cache.NewMemory(), o).Backend().Open(t.Context(), backend.Spec{Name: "n"})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	exit, err := s.Exec(t.Context(), backend.Command{Argv: []string{"x"}, Output: &out})
	if err != nil || exit.Code != 3 || out.String() != text {
		t.Errorf("got %+v, %v, %d bytes of %d", exit, err, out.Len(), len(text))
	}
	if n := f.dials.Load(); n < 4 || b.Execs() != 1 {
		t.Errorf("%d connections, %d runs; want several and 1", n, b.Execs())
	}
	if err := s.Close(t.Context()); err != nil || b.Closes() != 1 {
		t.Errorf("closing: %v, closed %d times", err, b.Closes())
	}
}

// A client that vanishes leaves its session to the next one that asks for the same.
func TestAnotherClient(t *testing.T) {
	t.Parallel()
	there := cache.NewMemory()
	running, finish := make(chan struct{}, 4), make(chan struct{})
	b := fake.New(there, func(ctx context.Context, c *fake.Call) (backend.Exit, error) {
		if c.Command.Argv[0] == "wait" {
			running <- struct{}{}
			select {
			case <-finish:
			case <-ctx.Done():
				return backend.Exit{}, context.Cause(ctx)
			}
		}
		_, err := io.WriteString(c.Command.Output, c.Command.Argv[0])
		return backend.Exit{}, err
	})
	o, _ := serve(t, worker.Host{Store: there, Backend: b})
	f := &frail{dial: o.Dial, after: 1 << 40}
	first := o
	first.Dial, first.Patience = f.Dial, time.Nanosecond
	spec := backend.Spec{Name: "n", Inputs: []backend.Input{{Path: "a", Content: []byte("a")}}}
	old := connect(t, cache.NewMemory(), first)
	s, err := old.Backend().Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"first"}}); err != nil {
		t.Fatal(err)
	}
	lost := make(chan error, 1)
	go func() {
		_, err := s.Exec(t.Context(), backend.Command{Argv: []string{"wait"}})
		lost <- err
	}()
	<-running
	f.cut()
	if err := <-lost; !errors.As(err, new(*backend.PreemptedError)) {
		t.Errorf("without a connection: %v", err)
	}

	c := connect(t, cache.NewMemory(), o)
	if !c.Orphaned(spec) || c.Orphaned(backend.Spec{Name: "other"}) {
		t.Error("the session that was left is not known, or another is")
	}
	if s, err = c.Backend().Open(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"first"}, Output: &out}); err != nil {
		t.Error(err)
	}
	close(finish)
	if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"wait"}, Output: &out}); err != nil || out.String() != "firstwait" {
		t.Errorf("%v, printed %q", err, out.String())
	}
	if b.Opens() != 1 || b.Execs() != 2 {
		t.Errorf("opened %d, ran %d; want 1 and 2", b.Opens(), b.Execs())
	}
	// What asks for something else than its predecessor gets no answer to that.
	other, err := c.Backend().Open(t.Context(), backend.Spec{Name: "other"})
	if err != nil || b.Opens() != 2 {
		t.Fatalf("%v, opened %d", err, b.Opens())
	}
	for _, s := range []backend.Session{s, other} {
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	// The one before has no say any more.
	late := connect(t, cache.NewMemory(), o)
	if _, err := c.Backend().Open(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "took this worker over") {
		t.Errorf("a client that was replaced: %v", err)
	}
	if _, err := late.Backend().Identity(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	there := cache.NewMemory()
	o, _ := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil)})
	token, certificate := o, o
	token.Token = "wrong"
	certificate.Certificate[0]++
	for want, o := range map[string]worker.ClientOptions{"the token is not that of the worker": token, "another certificate": certificate} {
		if _, err := worker.Connect(t.Context(), there, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A worker that was started again has none of the sessions.
func TestRestartedServer(t *testing.T) {
	t.Parallel()
	there := cache.NewMemory()
	o, server := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil)})
	s, err := connect(t, cache.NewMemory(), o).Backend().Open(t.Context(), backend.Spec{Name: "n"})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exec(t.Context(), backend.Command{Argv: []string{"x"}}); !errors.As(err, new(*backend.PreemptedError)) {
		t.Errorf("got %v, want a *PreemptedError", err)
	}
}

// Whoever knows that the machine is gone ends the wait.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	there := cache.NewMemory()
	o, _ := serve(t, worker.Host{Store: there, Backend: fake.New(there, nil)})
	f := &frail{dial: o.Dial, after: 1 << 40}
	gone := errors.New("gone")
	o.Dial, o.Unreachable = f.Dial, func(context.Context, error) error { return gone }
	c := connect(t, cache.NewMemory(), o)
	f.cut()
	if _, err := c.Backend().Identity(t.Context()); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}

// Inputs cost one question and one stream, and once.
func TestUploads(t *testing.T) {
	t.Parallel()
	there, here := cache.NewMemory(), cache.NewMemory()
	b := fake.New(there, nil)
	o, _ := serve(t, worker.Host{Store: there, Backend: b})
	c := connect(t, here, o)
	var entries []cache.Entry
	for i := range 5000 {
		d, err := cache.PutBytes(t.Context(), here, fmt.Appendf(nil, "file %d", i))
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, cache.Entry{Path: fmt.Sprintf("d%d/f%d", i%50, i), Digest: d})
	}
	tree, err := cache.BuildTree(entries)
	if err == nil {
		err = tree.Store(t.Context(), here)
	}
	if err != nil {
		t.Fatal(err)
	}
	spec := backend.Spec{Name: "n", Inputs: []backend.Input{{Tree: tree.Root}}}
	open := func() int64 {
		before := c.Sent()
		s, err := c.Backend().Open(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		return c.Sent() - before
	}
	if n := open(); n < 5000*6 {
		t.Errorf("sent %d bytes", n)
	}
	if n := open(); n != 0 {
		t.Errorf("sent %d bytes again", n)
	}
	// What this side has lost is known as that.
	spec.Inputs = []backend.Input{{Tree: cache.SumBytes([]byte("nowhere"))}}
	if _, err := c.Backend().Open(t.Context(), spec); !errors.As(err, new(*cache.MissingError)) {
		t.Errorf("got %v, want a *MissingError", err)
	}
}

// A worker without a client ends by itself, and with it all sessions.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	there := cache.NewMemory()
	b := fake.New(there, nil)
	access, certificate, err := worker.NewAccess()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := worker.NewServer(worker.Host{Store: there, Backend: b, Spool: t.TempDir()}, worker.ServerOptions{Token: access.Token, Abandon: 300 * time.Millisecond})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(context.Background(), listener, certificate) }()
	c, err := worker.Connect(t.Context(), cache.NewMemory(), worker.ClientOptions{Access: access, Beat: 20 * time.Millisecond, Dial: func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Backend().Open(t.Context(), backend.Spec{Name: "n"}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil { // its session is left
		t.Error(err)
	}
	if err := <-ended; err != nil || b.Closes() != 1 {
		t.Errorf("%v, closed %d sessions", err, b.Closes())
	}
}
