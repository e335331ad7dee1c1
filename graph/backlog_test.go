package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// The backlog has what is queued, by pool, with the time that it is expected to take, and
// neither what runs nor what has run.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := newProject(t), New()
		var b Backlog
		var seen []string
		look := func(ctx context.Context, w *Work) (Outcome, error) {
			nodes, seconds := b.Waiting("gpu")
			seen = append(seen, fmt.Sprintf("%d %g", nodes, seconds))
			return out(ctx, w, w.Addr)
		}
		for addr, seconds := range map[string]float64{"a": 8, "b": 4.5, "c": 1.25} {
			p.last.expect(addr, seconds)
		}
		for _, addr := range []string{"a", "b", "c"} {
			g.Node(add(g, addr, &step{work: look})).Pool = "gpu"
		}
		var cpu []int // of nodes that name no pool
		for _, addr := range []string{"d", "e"} {
			add(g, addr, &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
				nodes, _ := b.Waiting(CPUPool)
				cpu = append(cpu, nodes)
				return out(ctx, w, w.Addr)
			}})
		}
		o := p.options()
		o.Pools[CPUPool], o.Pools["gpu"], o.Backlog = 1, 1, &b
		p.executeWith(t.Context(), g, o)
		if want := []string{"2 5.75", "1 1.25", "0 0"}; !slices.Equal(seen, want) {
			t.Errorf("while they ran, %q waited, want %q", seen, want)
		}
		if nodes, seconds := b.Waiting("gpu"); nodes != 0 || seconds != 0 || !slices.Equal(cpu, []int{1, 0}) {
			t.Errorf("%d nodes and %g seconds are left; of the cpu pool, %d waited", nodes, seconds, cpu)
		}
	})
}

func TestNoBacklog(t *testing.T) {
	if nodes, seconds := (*Backlog)(nil).Waiting(CPUPool); nodes != 0 || seconds != 0 {
		t.Errorf("without a backlog, %d nodes wait for %g seconds", nodes, seconds)
	}
}

// After no new nodes start, none waits.
func TestBacklogOfStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, g := newProject(t), New()
		var b Backlog
		failed, before, after := make(chan struct{}), -1, -1
		slow := add(g, "slow", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
			<-failed
			synctest.Wait()
			after, _ = b.Waiting("gpu")
			return out(ctx, w, "x")
		}})
		waits := add(g, "waits", &step{work: func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, "y") }})
		add(g, "failing", &step{work: func(context.Context, *Work) (Outcome, error) {
			synctest.Wait()
			before, _ = b.Waiting("gpu")
			return Outcome{}, errors.New("unplugged")
		}})
		g.Node(slow).Pool, g.Node(waits).Pool = "gpu", "gpu"
		o := p.options()
		o.Pools["gpu"], o.Backlog = 1, &b
		var stopped sync.Once
		o.Stop = func(id ID, st *Status) bool {
			stopped.Do(func() { close(failed) })
			return true
		}
		p.executeWith(t.Context(), g, o)
		if before != 1 || after != 0 {
			t.Errorf("%d nodes waited before the stop, %d after it", before, after)
		}
	})
}
