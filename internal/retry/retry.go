// Package retry makes calls again that failed for a reason that may pass.
//
// Which errors may pass is the caller's to know; how long to be patient, and the pauses between
// calls, are the same everywhere. A caller that counts different failures of one call uses a Tries
// for each.
package retry

import (
	"context"
	"math/rand/v2"
	"time"
)

// Patience bounds how often a call is made again. It is used up if both of its limits are reached;
// a limit of 0 is always reached, so a Patience without limits allows no second call.
type Patience struct {
	For   time.Duration // since the first failure without progress since
	Calls int           // that failed without progress
	// Pause is the time before the second call. Each further pause is twice as long, up to Longest,
	// which is Pause if it is 0. Half of each pause is random.
	Pause, Longest time.Duration
	// Note learns the error that the first pause is for; nil ignores it.
	Note func(error)
}

// Forever is a Patience.For that only the end of a context bounds.
const Forever = time.Duration(1<<63 - 1)

// Do makes a call, and again while its error may pass and patience is left. It returns the last
// error, or the cause of ctx if ctx ends after a failure.
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

// Tries counts the failures of one call.
type Tries struct {
	Patience
	failed int
	since  time.Time
	pause  time.Duration
}

// Failed returns the number of failures since the last progress.
func (t *Tries) Failed() int { return t.failed }

// Progress forgets the failures so far.
func (t *Tries) Progress() { t.failed, t.pause = 0, 0 }

// Wait counts a failure, and pauses. It returns err if patience is used up, the cause of ctx if ctx
// ends first, and nil if the call may be made again.
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
