package remote

import (
	"context"
	"fmt"
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
	changed chan struct{} // closed, and made again, when one can go in
	since   time.Time     // when the engine refused the first action after it last took one; zero if it takes them
	noticed bool          // notice has reported that
	notice  func(text string)
}

// longestPause bounds how long an engine is left alone on its own request.
const longestPause = time.Minute

func newGate(most int, notice func(text string)) *gate {
	return &gate{most: float64(most), bound: float64(most), changed: make(chan struct{}), notice: notice}
}

// busy returns since when the engine has taken no action, or the zero time if it takes
// them or executes one of this backend: that one makes room when it ends.
func (g *gate) busy() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.going > 0 {
		return time.Time{}
	}
	return g.since
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

// answer classifies the engine's reaction to an action.
type answer int

const (
	unanswered answer = iota // the engine was not queried, or could not be reached
	taken
	refused // the engine takes no more actions
)

// leave gives the turn back. wait is how long an engine that refused asks to be left alone.
func (g *gate) leave(a answer, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.going--
	now := time.Now()
	switch a {
	case refused:
		g.bound = max(1, min(g.bound, float64(g.going+1))/2)
		g.until = now.Add(min(max(wait, 200*time.Millisecond), longestPause))
		if g.since.IsZero() {
			g.since = now
		}
		if !g.noticed && now.Sub(g.since) >= slow {
			g.noticed = true
			g.notice("the engine takes no more actions since " + g.since.Format(time.TimeOnly))
		}
	case taken:
		g.bound = min(g.most, g.bound+1/g.bound)
		if g.noticed {
			g.notice(fmt.Sprintf("the engine takes actions again, after %v", now.Sub(g.since).Round(time.Second)))
		}
		g.since, g.noticed = time.Time{}, false
	}
	close(g.changed)
	g.changed = make(chan struct{})
}
