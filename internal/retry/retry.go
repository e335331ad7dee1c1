// Package retry repeats calls that failed for a reason that can pass.
//
// The caller decides which errors can pass; patience and pauses are the same everywhere. A caller that counts
// different failures of a call uses a Tries for each.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Patience limits how often a call is repeated. It is exhausted if both limits are reached; a limit of 0 is
// always reached, so a Patience without limits permits no second call.
type Patience struct {
	For   time.Duration // time since the first failure without progress
	Calls int           // failed calls without progress
	// Pause is the time before the second call. Each further pause is twice as long, up to Longest; 0 means
	// Pause. Half of each pause is random.
	Pause, Longest time.Duration
	// Note gets the error before the first pause; it can be nil.
	Note func(error)
}

// Forever is a Patience.For without a limit.
const Forever = time.Duration(1<<63 - 1)

// Do makes a call, and repeats it while its error can pass and patience remains. It returns the last error, or
// the cause of ctx if ctx ends after a failure.
func (p Patience) Do(ctx context.Context, passes func(error) bool, call func() error) error {
	t := Tries{Patience: p}
	for {
		err := call()
		if err == nil {
			return nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		if !passes(err) {
			return err
		}
		if err := t.Wait(ctx, err); err != nil {
			return err
		}
	}
}

// Tries counts the failures of a call.
type Tries struct {
	Patience
	failed int
	since  time.Time
	pause  time.Duration
}

// Failed returns the number of failures since the last progress.
func (t *Tries) Failed() int { return t.failed }

// Progress resets the count and the pause.
func (t *Tries) Progress() { t.failed, t.pause = 0, 0 }

// Wait counts a failure, and pauses. It returns err if patience is exhausted, the cause of ctx if ctx ends
// first, and nil if the call can be repeated.
func (t *Tries) Wait(ctx context.Context, err error) error {
	if t.failed++; t.failed == 1 {
		t.since = time.Now()
	}
	if t.failed >= t.Calls && time.Since(t.since) >= t.For {
		return err
	}
	if t.failed == 1 && t.Note != nil {
		t.Note(err)
	}
	t.pause = max(t.Pause, min(2*t.pause, t.Longest))
	return Sleep(ctx, t.pause/2+rand.N(t.pause/2+1))
}

// Sleep waits, and returns the cause of ctx if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
