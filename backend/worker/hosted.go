package worker

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/fevalgraph/fevalgraph/backend"
)

// hostedSession is a session of the server's backend, with its calls.
type hostedSession struct {
	id     string
	asked  [sha256.Size]byte // digest of the openRequest, by which another client adopts it
	client string            // owner; "" if it has none
	// refusedClient is the client that adopted it and made other calls than its predecessor. The server's lock
	// guards it, id and client.
	refusedClient string
	adopted       atomic.Bool
	host          *Host

	opened  chan struct{} // closed when session or openErr is set
	giveUp  context.CancelFunc
	session backend.Session
	openErr error
	prepare string

	mu             sync.Mutex
	calls          []*call
	cancelledEarly map[int]bool // calls that were cancelled before they arrived
	broken         bool         // a call was cancelled, so no other client can continue the session
	closed         bool
	work           sync.WaitGroup // waits for running calls
}

// call is a call that was made, whether or not it has ended.
type call struct {
	asked  [sha256.Size]byte // digest of the callRequest
	ctx    context.Context
	cancel context.CancelCauseFunc
	spool  *spool
}

// open opens the session. It must be called first.
func (h *hostedSession) open(ctx context.Context, spec backend.Spec) {
	defer close(h.opened)
	if h.prepare == "" {
		h.session, h.openErr = h.host.Backend.Open(ctx, spec)
	}
}

// dir returns the directory of the session's commands, once it is open.
func (h *hostedSession) dir(ctx context.Context) (string, error) {
	select {
	case <-h.opened:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if h.session == nil {
		return "", h.openErr
	}
	return h.session.Dir(), h.openErr
}

var (
	errEnded    error = &backend.PreemptedError{Err: errors.New("the worker ended the session")}
	errNotReady       = errors.New("the session is not open")
	errOther          = errors.New("duplicate number of a call")
	// errOtherWork means that an adopted session made other calls than its new client.
	errOtherWork = errors.New("the session of an earlier run made other calls")
	// errRestarted means that a server does not know a client that was attached.
	errRestarted = errors.New("the worker was restarted")
)

// maxGap limits how many calls a client can have cancelled before they arrived.
const maxGap = 1000

// isIntact reports whether another client can continue the session: it was opened, and no call was cancelled.
func (h *hostedSession) isIntact() bool {
	select {
	case <-h.opened:
		if h.openErr != nil {
			return false
		}
	default:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return !h.broken && !h.closed
}

// cancel cancels a call, even before it has arrived: the request that makes it can be slower than the
// request that cancels it.
func (h *hostedSession) cancel(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.broken = true
	switch {
	case n < len(h.calls):
		h.calls[n].cancel(context.Canceled)
	case n < len(h.calls)+maxGap:
		if h.cancelledEarly == nil {
			h.cancelledEarly = map[int]bool{}
		}
		h.cancelledEarly[n] = true
	}
}

// call returns the call with a number, and starts it if it is the next one.
func (h *hostedSession) call(ctx context.Context, n int, body []byte, ask callRequest) (*call, error) {
	if _, err := h.dir(ctx); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotReady, err)
	}
	sum := sha256.Sum256(body)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return nil, errEnded
	case n < len(h.calls) && h.calls[n].asked == sum:
		return h.calls[n], nil
	case n < len(h.calls) && h.adopted.Load():
		return nil, &backend.PreemptedError{Err: errOtherWork}
	case n < len(h.calls):
		return nil, errOther
	case n >= len(h.calls)+maxGap:
		return nil, fmt.Errorf("call %d before call %d", n, len(h.calls))
	}
	for len(h.calls) < n { // the client cancelled it before it arrived
		h.broken = true
		given := h.newCall([sha256.Size]byte{})
		given.cancel(context.Canceled)
		given.spool.finish(callResult{Failure: FailureOf(context.Canceled)})
	}
	c := h.newCall(sum)
	if h.cancelledEarly[n] {
		c.cancel(context.Canceled)
	}
	h.work.Go(func() {
		defer c.cancel(nil)
		c.spool.finish(h.serve(c.ctx, c.spool, ask))
	})
	return c, nil
}

// newCall adds the next call. The caller must hold the lock.
func (h *hostedSession) newCall(asked [sha256.Size]byte) *call {
	ctx, cancel := context.WithCancelCause(context.Background())
	c := &call{asked: asked, ctx: ctx, cancel: cancel, spool: newSpool(ctx, h.host.Spool)}
	h.calls = append(h.calls, c)
	return c
}

// serve executes a request.
func (h *hostedSession) serve(ctx context.Context, s frames, ask callRequest) callResult {
	var r callResult
	var err error
	switch {
	case ask.Exec != nil:
		r.Exit, err = h.exec(ctx, s, *ask.Exec, ask.Apart)
	case h.session == nil:
		err = errors.New("only a command can be prepared")
	case ask.Place != nil:
		err = h.session.Place(ctx, ask.Place...)
	case ask.Collect != nil:
		err = h.collect(ctx, s, *ask.Collect)
	case ask.List != nil:
		err = h.list(ctx, s, *ask.List)
	case ask.Verify:
		err = h.session.Verify(ctx)
	default:
		err = errors.New("the call is empty")
	}
	if cause := context.Cause(ctx); cause != nil {
		r, err = callResult{}, cause // regardless of the error of the cancelled call
	}
	r.Failure = FailureOf(err)
	return r
}

func (h *hostedSession) exec(ctx context.Context, s frames, cmd backend.Command, apart bool) (exit backend.Exit, err error) {
	cmd.Output, cmd.Notes, cmd.Attach = stream{s, frameOutput}, stream{s, frameNotes}, false
	if apart {
		cmd.Errors = stream{s, frameErrors}
	}
	h.host.localize(&cmd)
	if h.prepare != "" {
		_, exit, err = h.host.Backend.Prepare(ctx, h.prepare, cmd)
		return exit, err
	}
	return h.session.Exec(ctx, cmd)
}

func (h *hostedSession) list(ctx context.Context, s frames, ask listRequest) error {
	lister, ok := h.session.(backend.Lister)
	if !ok {
		return errors.New("the session cannot list files")
	}
	names, err := lister.List(ctx, ask.Dir, ask.Most)
	if err != nil {
		return err
	}
	return s.add(frameData, encode(names))
}

func (h *hostedSession) collect(ctx context.Context, s frames, path string) error {
	file, err := h.session.Collect(ctx, path)
	if err != nil {
		return err
	}
	defer file.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := file.Read(buffer)
		if n > 0 {
			if err := s.add(frameData, buffer[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err = errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
	}
}

// close ends the session and all calls. It can be called again.
func (h *hostedSession) close(ctx context.Context) error {
	h.mu.Lock()
	h.closed = true
	calls := slices.Clone(h.calls)
	h.mu.Unlock()
	h.giveUp()
	for _, c := range calls {
		c.cancel(errEnded)
	}
	<-h.opened
	h.work.Wait()
	for _, c := range calls {
		c.spool.close()
	}
	if h.session == nil {
		return nil
	}
	return h.session.Close(ctx)
}

// localize adapts a client's command to this machine.
func (h *Host) localize(cmd *backend.Command) {
	if h.Environments != "" {
		Localize(cmd, h.Environments, h.Tools)
	}
}

// Localize adapts a client's command to a machine: environments is the machine's directory for
// Environments, and tools are variables, KEY=value, that are added unless the command sets them.
func Localize(cmd *backend.Command, environments string, tools []string) {
	here := func(words []string) []string {
		out := make([]string, len(words))
		for i, word := range words {
			out[i] = strings.ReplaceAll(word, Environments, environments)
		}
		return out
	}
	cmd.Argv, cmd.Env, cmd.Prepares = here(cmd.Argv), here(cmd.Env), here([]string{cmd.Prepares})[0]
	given := map[string]bool{}
	for _, v := range cmd.Env {
		name, _, _ := strings.Cut(v, "=")
		given[name] = true
	}
	for _, v := range tools {
		if name, _, _ := strings.Cut(v, "="); !given[name] {
			cmd.Env = append(cmd.Env, v)
		}
	}
}
