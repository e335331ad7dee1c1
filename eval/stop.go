package eval

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// stopAt returns the engine's stop condition: after a number of failed or broken cells, no new work starts.
func (g *goals) stopAt(ctx context.Context) func(graph.ID, *graph.Status) bool {
	limit := 0
	for _, s := range g.call.Config.Suites {
		if s.StopAfter > 0 && (limit == 0 || s.StopAfter < limit) {
			limit = s.StopAfter
		}
	}
	if g.request.FailFast {
		limit = 1
	}
	if limit == 0 {
		return nil
	}
	graded := g.project.Plan.Graded()
	var mu sync.Mutex
	failing, alone := map[plan.CellID]bool{}, map[string]bool{}
	return func(id graph.ID, st *graph.Status) bool {
		n := g.project.Plan.Graph.Node(id)
		ended := st.State == event.Failed || st.State == event.Broken
		fails := ended || graded(id) && g.project.fails(ctx, g.request.Policy, st) // reads the store
		mu.Lock()
		defer mu.Unlock()
		switch {
		case ended && n.Label("backend") == "": // an error outside of cells counts once
			alone[n.Addr] = true
		case fails:
			failing[plan.NodeCell(n).Cell()] = true
		}
		return len(failing)+len(alone) >= limit
	}
}

// fails reports whether the graded checkpoint of an aggregate node fails.
func (p *Project) fails(ctx context.Context, policy *verdict.Policy, st *graph.Status) bool {
	for _, o := range st.Outputs {
		if o.Name != tasks.ResultOutput {
			continue
		}
		content, err := cache.ReadBlob(ctx, p.call.stores.Store, o.Digest, -1)
		var c verdict.Checkpoint
		if err != nil || json.Unmarshal(content, &c) != nil {
			continue
		}
		if policy != nil {
			return !policy.Holds(c.Class, c.Groups)
		}
		return !c.Passed && (c.Class != verdict.Judged || c.Ruled())
	}
	return false
}
