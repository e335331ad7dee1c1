package eval_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/internal/testkit/await"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// watched is a backend that calls a function before it opens a session.
type watched struct {
	backend.Backend
	before func()
}

func (w watched) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	w.before()
	return w.Backend.Open(ctx, spec)
}

// A backend sees what waits for it: of two cells and one slot, the other one.
func TestSiteBacklog(t *testing.T) {
	o := newProject(t)
	o.Jobs = 1
	var site *kind.Site
	first, seen := true, -1
	var mu sync.Mutex
	o.Kinds = slices.Clone(o.Kinds)
	for i := range o.Kinds {
		made := o.Kinds[i].New
		o.Kinds[i].New = func(s *kind.Site, b *lang.Backend, env []string) (plan.Executor, error) {
			site = s
			x, err := made(s, b, env)
			x.Backend = watched{x.Backend, func() {
				mu.Lock()
				defer mu.Unlock()
				if first {
					first = false
					await.Until(t, "the other node waits", func() bool { nodes, _ := s.Backlog("cpu"); return nodes == 1 })
					return
				}
				seen, _ = s.Backlog("cpu")
			}}
			return x, err
		}
	}
	out, err := eval.Run(t.Context(), o, eval.Request{})
	if err != nil || out.Exit != exit.Passed || seen != 0 {
		t.Errorf("%+v, %v; at last, %d nodes waited", out, err, seen)
	}
	if nodes, seconds := site.Backlog("cpu"); nodes != 0 || seconds != 0 {
		t.Errorf("after the run, %d nodes wait for %g seconds", nodes, seconds)
	}
	if nodes, _ := new(kind.Site).Backlog("cpu"); nodes != 0 {
		t.Errorf("%d nodes wait on a site of no run", nodes)
	}
}
