package remote

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// gate limits the number of concurrent actions. When the engine refuses an action, the limit
// is halved; each accepted action raises it a little, up to the maximum.
type gate struct {
	most float64

	mu          sync.Mutex
	limit       float64
	going       int
	pausedUntil time.Time     // time before which no action is admitted
	changed     chan struct{} // closed and replaced when an action may be admitted
	since       time.Time     // when the engine refused the first action after the last accepted one; zero while it accepts actions
	noticed     bool          // the refusal was reported to notice
	notice      func(text string)
}

// longestPause limits the pause that an engine can request.
const longestPause = time.Minute

func newGate(most int, notice func(text string)) *gate {
	return &gate{most: float64(most), limit: float64(most), changed: make(chan struct{}), notice: notice}
}

// busySince returns the time since which the engine has refused all actions. It returns the zero
// time if the engine accepts actions, or executes one of this backend, which makes room when
// it ends.
func (g *gate) busySince() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.going > 0 {
		return time.Time{}
	}
	return g.since
}

// enter waits until an action is admitted.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		pause := time.Until(g.pausedUntil)
		if pause <= 0 && float64(g.going) < g.limit {
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
	noAnswer answer = iota // no request was made, or the engine was unreachable
	engineAccepted
	engineRefused // the engine accepts no more actions
)

// leave ends an action that enter admitted. wait is the pause that a refusing engine
// requested.
func (g *gate) leave(a answer, wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.going--
	now := time.Now()
	switch a {
	case engineRefused:
		g.limit = max(1, min(g.limit, float64(g.going+1))/2)
		g.pausedUntil = now.Add(min(max(wait, 200*time.Millisecond), longestPause))
		if g.since.IsZero() {
			g.since = now
		}
		if !g.noticed && now.Sub(g.since) >= queueNotice {
			g.noticed = true
			g.notice("the engine has refused actions since " + g.since.Format(time.TimeOnly))
		}
	case engineAccepted:
		g.limit = min(g.most, g.limit+1/g.limit)
		if g.noticed {
			g.notice(fmt.Sprintf("the engine accepts actions again, after %v", now.Sub(g.since).Round(time.Second)))
		}
		g.since, g.noticed = time.Time{}, false
	}
	close(g.changed)
	g.changed = make(chan struct{})
}
