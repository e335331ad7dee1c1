package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/retry"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// side is one direction of using a cache, reading or writing. It ends when it costs more than it saves, or when the
// server fails; then all of its calls fail immediately.
type side struct {
	budget
	patience
	ctx   context.Context // until the side ends
	end   func(error)
	fails atomic.Int32 // consecutive failed calls
	last  atomic.Pointer[error]
}

// patience limits how long a side waits for a server.
type patience struct {
	retries  retry.Patience // of a call
	maxFails int32          // consecutive calls that failed after all retries
	// stall limits how long a call can make no progress, even if other calls do.
	stall time.Duration
}

// ofRun is the patience of a run, which can do without the cache.
var ofRun = patience{
	retries:  retry.Patience{Calls: 3, Pause: 100 * time.Millisecond, Longest: 400 * time.Millisecond},
	maxFails: 4,
	stall:    10 * time.Second,
}

// ofTransfer is the patience of a command whose only work is to send or fetch.
var ofTransfer = patience{
	retries:  retry.Patience{For: 5 * time.Minute, Pause: 100 * time.Millisecond, Longest: 10 * time.Second},
	maxFails: 1,
	stall:    2 * time.Minute,
}

// errSlow means that a side's budget is used up.
var errSlow = errors.New("too slow")

// newSide returns a side whose net cost is at most limit; ended is called with the reason when it ends.
func newSide(limit time.Duration, p patience, ended func(error)) *side {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &side{ctx: ctx, patience: p}
	var once sync.Once
	s.end = func(err error) {
		once.Do(func() {
			ended(err) // before calls fail because of it, so that no run ends without the reason
			cancel(err)
		})
	}
	s.limit, s.over = limit, func() { s.end(errSlow) }
	return s
}

// open reports whether the side can be used.
func (s *side) open() bool { return s.ctx.Err() == nil }

// try makes a call, and retries it if that can help, with growing pauses. The call reports its progress in
// bytes.
func (s *side) try(ctx context.Context, call func(ctx context.Context, progress func(int64)) error) error {
	either, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.ctx, func() { cancel(context.Cause(s.ctx)) })()
	var refused *reapi.RefusedError
	var own *localError
	passes := func(err error) bool { return !errors.As(err, &own) && !errors.As(err, &refused) }
	err := s.retries.Do(either, passes, func() error {
		return s.callOnce(either, call)
	})
	switch {
	case err == nil:
		s.fails.Store(0)
	case either.Err() != nil:
	case own != nil:
		return own.err
	case refused != nil && refused.Rights:
		s.end(err)
	default:
		s.failed(err)
	}
	return err
}

// failed counts a call that failed without progress.
func (s *side) failed(err error) {
	s.last.Store(&err)
	if s.fails.Add(1) >= s.maxFails {
		s.end(err)
	}
}

func (s *side) callOnce(ctx context.Context, call func(ctx context.Context, progress func(int64)) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(s.stall, func() { cancel(fmt.Errorf("no data arrived for %v", s.stall)) })
	defer timer.Stop()
	err := call(ctx, func(bytes int64) {
		timer.Reset(s.stall)
		s.pay(worthOf(bytes))
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err == nil {
		s.pay(answerWorth)
	}
	return err
}

// reason returns why calls of the side failed, or nil.
func (s *side) reason() error {
	if !s.open() {
		return context.Cause(s.ctx)
	}
	if last := s.last.Load(); last != nil {
		return *last
	}
	return nil
}

// localError is an error of this machine, such as a full disk, that no cache caused.
type localError struct{ err error }

func (e *localError) Error() string { return e.err.Error() }
func (e *localError) Unwrap() error { return e.err }

func isLocal(err error) bool {
	var own *localError
	return errors.As(err, &own)
}
