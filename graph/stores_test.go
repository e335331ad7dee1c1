package graph

import (
	"context"
	"strconv"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
)

// A task that returns something else each time has a different answer in each store. With one log, a store returns its
// own, and no node runs again.
func TestLogOfAnotherStore(t *testing.T) {
	p := newProject(t)
	g := New()
	runs := 0
	top := add(g, "top", join(nil), add(g, "sample", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		runs++
		return out(ctx, w, strconv.Itoa(runs))
	}}))
	first, second := cache.NewMemory(), cache.NewMemory()
	for i, try := range []struct {
		store *cache.Memory
		ran   int
		want  string
	}{{first, 2, "1"}, {first, 0, "1"}, {second, 2, "2"}, {first, 0, "1"}, {second, 0, "2"}, {first, 0, "1"}} {
		p.store, p.lock = try.store, try.store
		plan := p.options()
		plan.DryRun = true
		planned, stale := p.executeWith(t.Context(), g, plan), 0
		for _, id := range planned.Nodes {
			if planned.Status(id).Stale {
				stale++
			}
		}
		r := p.execute(g)
		if got := p.content(r, top); got != try.want || r.Executed != try.ran || stale != try.ran {
			t.Errorf("%d: %d were stale, %d ran, for %q, want %d, for %q", i, stale, r.Executed, got, try.ran, try.want)
		}
	}
}
