package remote

import (
	"context"
	"sync"
	"time"
)

// gate bounds how many actions are under way. An engine that takes no more halves the bound;
// each action that it takes afterwards raises it a little, up to the most.
type gate struct {
	most float64

	mu      sync.Mutex
	bound   float64
	going   int
	until   time.Time     // before which none is let in
	changed chan struct{} // closed, and made again, when one may go in
}

func newGate(most int) *gate {
	return &gate{most: float64(most), bound: float64(most), changed: make(chan struct{})}
}

// enter waits for a turn.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		pause := time.Until(g.until)
		if pause <= 0 && float64(g.going) < g.bound {
			g.going++
			g.mu.Unlock()
			return nil
		}
		changed := g.changed
		g.mu.Unlock()
		var after <-chan time.Time
		if pause > 0 {
			after = time.After(pause)
		}
		select {
		case <-changed:
		case <-after:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leave gives the turn back. busy says that the engine did not take the action, and wait is
// how long it asks to be left alone.
func (g *gate) leave(busy bool, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.going--
	if busy {
		g.bound = max(1, min(g.bound, float64(g.going+1))/2)
		g.until = time.Now().Add(max(wait, 200*time.Millisecond))
	} else {
		g.bound = min(g.most, g.bound+1/g.bound)
	}
	close(g.changed)
	g.changed = make(chan struct{})
}
