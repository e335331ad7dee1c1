package worker

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
)

// hosting returns a session on a server, without a connection.
func hosting(t *testing.T, program fake.Program) (*hostedSession, *fake.Backend) {
	b := fake.New(cache.NewMemory(), program)
	ctx, giveUp := context.WithCancel(context.Background())
	h := &hostedSession{host: &Host{Backend: b, Spool: t.TempDir()}, opened: make(chan struct{}), giveUp: giveUp}
	h.open(ctx, backend.Spec{})
	return h, b
}

func make1(t *testing.T, h *hostedSession, n int) *call {
	t.Helper()
	ask := callRequest{Exec: &backend.Command{Argv: []string{"x"}}}
	c, err := h.call(t.Context(), n, encode(ask), ask)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// awaitResult returns the final result of a call.
func awaitResult(t *testing.T, c *call) (r callResult) {
	t.Helper()
	var all bytes.Buffer
	if err := c.spool.copy(t.Context(), &all, func() {}, 0); err != nil {
		t.Fatal(err)
	}
	var from int64
	if err := readCall(&all, &from, &r, nil); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLateCalls cancels calls before they arrive, and has some never arrive.
func TestLateCalls(t *testing.T) {
	h, b := hosting(t, nil)
	defer h.close(context.Background())
	if !h.isIntact() {
		t.Error("a new session is not sound")
	}
	h.cancel(0)
	if err := awaitResult(t, make1(t, h, 0)).Failure.Err(); !errors.Is(err, context.Canceled) || b.Execs() != 0 {
		t.Errorf("cancelled before it arrived: %v, %d commands ran", err, b.Execs())
	}
	if err := awaitResult(t, make1(t, h, 2)).Failure.Err(); err != nil || b.Execs() != 1 {
		t.Errorf("after one that never arrived: %v, %d commands ran", err, b.Execs())
	}
	ask := callRequest{Verify: true}
	if _, err := h.call(t.Context(), 1, encode(ask), ask); err == nil {
		t.Error("a call that was given up is made when it arrives after others")
	}
	if h.isIntact() {
		t.Error("a session with a cancelled call is offered to another client")
	}
}

// TestCancelUnread ends a command that prints more than its client reads.
func TestCancelUnread(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(h *hostedSession)
		want func(err error) bool
	}{
		{"cancelled", func(h *hostedSession) { h.cancel(0) }, func(err error) bool { return errors.Is(err, context.Canceled) }},
		{"closed", func(h *hostedSession) { h.close(context.Background()) }, func(err error) bool {
			lost := (*backend.PreemptedError)(nil)
			return errors.As(err, &lost)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var wrote int64
				h, _ := hosting(t, func(_ context.Context, c *fake.Call) (backend.Exit, error) {
					n, err := io.Copy(c.Command.Output, endless{})
					wrote = n
					return backend.Exit{}, err
				})
				defer h.close(context.Background())
				c := make1(t, h, 0)
				r, w := io.Pipe() // it is not read
				defer w.Close()
				read := make(chan error, 1)
				go func() { read <- c.spool.copy(context.Background(), w, func() {}, 0) }()
				synctest.Wait()
				if c.ctx.Err() != nil {
					t.Fatal("the command has ended")
				}
				test.end(h)
				synctest.Wait()
				if c.ctx.Err() == nil || wrote > window {
					t.Errorf("the command goes on, or printed %d bytes", wrote)
				}
				go io.Copy(io.Discard, r)
				if err := <-read; err != nil && !test.want(err) {
					t.Errorf("its reader got %v", err)
				}
			})
		})
	}
}

// heedless is a session whose commands end with a signal when they are cancelled.
type heedless struct{ backend.Session }

func (heedless) Exec(ctx context.Context, _ backend.Command) (backend.Exit, error) {
	<-ctx.Done()
	return backend.Exit{Code: -1, Signal: "killed"}, nil
}

// TestEndIsNoVerdict ends a session whose command then seems to have been killed.
func TestEndIsNoVerdict(t *testing.T) {
	h, _ := hosting(t, nil)
	h.session = heedless{h.session}
	c := make1(t, h, 0)
	c.cancel(errEnded)
	r := awaitResult(t, c)
	if lost := (*backend.PreemptedError)(nil); !errors.As(r.Failure.Err(), &lost) || r.Exit != (backend.Exit{}) {
		t.Errorf("got %+v, %v", r.Exit, r.Failure.Err())
	}
	if err := h.close(context.Background()); err != nil {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
