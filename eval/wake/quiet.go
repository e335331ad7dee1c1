package wake

import (
	"context"
	"time"
)

const (
	// still is how long nothing may happen before a burst of changes is over. It is longer than
	// a tick of the clock that stamps files, so that a state tells what changed then from later changes.
	still = 250 * time.Millisecond
	// longest is how long a burst may last: something that never stops, such as a log, does not
	// keep a caller waiting for ever.
	longest = 5 * time.Second
)

// quiet returns when no event has come for a while, or when ctx ends, whose cause it returns.
func quiet(ctx context.Context, events <-chan struct{}) error {
	end := time.NewTimer(longest)
	defer end.Stop()
	calm := time.NewTimer(still)
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
			calm.Reset(still)
		}
	}
}
