package wake

import (
	"context"
	"time"
)

const (
	// still is the pause that ends a burst of changes. It is longer than a tick of the clock for file times, so
	// that later changes can be distinguished by their time.
	quietPeriod = 250 * time.Millisecond
	// maxBurst limits a burst: changes that never stop, such as those of a log, must not block the caller.
	maxBurst = 5 * time.Second
)

// quiet waits until no event has arrived for a while, or until ctx ends, and returns its cause then.
func quiet(ctx context.Context, events <-chan struct{}) error {
	end := time.NewTimer(maxBurst)
	defer end.Stop()
	calm := time.NewTimer(quietPeriod)
	defer calm.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end.C:
			return nil
		case <-calm.C:
			return nil
		case <-events:
			calm.Reset(quietPeriod)
		}
	}
}
