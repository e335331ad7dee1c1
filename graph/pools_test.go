package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// gauge records how many of its steps run at once, and their order.
type gauge struct {
	mu       sync.Mutex
	now, max int
	order    []string
}

func (m *gauge) step(addr string) *step {
	return &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		m.mu.Lock()
		m.now++
		m.max = max(m.max, m.now)
		m.order = append(m.order, addr)
		m.mu.Unlock()
		time.Sleep(time.Second)
		m.mu.Lock()
		m.now--
		m.mu.Unlock()
		return out(ctx, w, addr)
	}}
}

func TestPools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		g := New()
		var all, cpu, gpu gauge
		for i := range 12 {
			addr := fmt.Sprintf("n%d", i)
			pool, observed := "gpu", &gpu
			if i%2 == 0 {
				pool, observed = "", &cpu
			}
			inner, outer := observed.step(addr), all.step(addr)
			s := &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
				var group sync.WaitGroup
				group.Go(func() { outer.work(ctx, w) })
				defer group.Wait()
				return inner.work(ctx, w)
			}}
			g.Node(add(g, addr, s)).Pool = pool
		}
		o := p.options()
		o.Pools = map[string]int{CPUPool: 3, "gpu": 2}
		r := p.executeWith(t.Context(), g, o)
		if r.Executed != 12 || cpu.max != 3 || gpu.max != 2 || all.max != 5 {
			t.Errorf("executed %d; at once %d in cpu, %d in gpu, %d in all", r.Executed, cpu.max, gpu.max, all.max)
		}
	})
}

// TestPriority: the longest remaining chain goes first; equal ones run in the order of the graph.
func TestPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		g := New()
		var m gauge
		ids := map[string]ID{}
		for _, addr := range []string{"short", "unknown 1", "unknown 2", "heads a chain", "long"} {
			ids[addr] = add(g, addr, m.step(addr))
		}
		add(g, "chained", m.step("chained"), ids["heads a chain"])
		for addr, seconds := range map[string]float64{"short": 1, "long": 9, "heads a chain": 2, "chained": 8} {
			p.last.expect(addr, seconds)
		}
		o := p.options()
		o.Pools[CPUPool] = 1
		p.executeWith(t.Context(), g, o)
		// Unknown ones count as the median of the others, 2 s.
		if want := []string{"heads a chain", "long", "chained", "unknown 1", "unknown 2", "short"}; !slices.Equal(m.order, want) {
			t.Errorf("order %q, want %q", m.order, want)
		}
	})
}

// TestTwoAtOnce: two executions on one store do no work twice, and both end
// with everything.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	ran := map[string]int{}
	build := func() *Graph {
		g := New()
		var last []ID
		for layer := range 4 {
			var ids []ID
			for i := range 6 {
				addr := fmt.Sprintf("n%d-%d", layer, i)
				inner := join(nil)
				s := &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
					mu.Lock()
					ran[addr]++
					mu.Unlock()
					time.Sleep(2 * time.Millisecond)
					if len(w.inputs) == 0 {
						return out(ctx, w, addr)
					}
					return inner.work(ctx, w)
				}}
				ids = append(ids, add(g, addr, s, last[:min(len(last), 2)]...))
			}
			last = ids
		}
		return g
	}
	var group sync.WaitGroup
	reports := make([]*Report, 2)
	graphs := []*Graph{build(), build()}
	for i := range reports {
		p := diskProject(t, dir)
		group.Go(func() {
			o := p.options()
			o.LockPoll = time.Millisecond
			reports[i] = p.executeWith(t.Context(), graphs[i], o)
		})
	}
	group.Wait()
	for addr, n := range ran {
		if n != 1 {
			t.Errorf("%s ran %d times", addr, n)
		}
	}
	if len(ran) != 24 || reports[0].Executed+reports[1].Executed != 24 || reports[0].Cached+reports[1].Cached != 24 {
		t.Errorf("%d ran; %+v %+v", len(ran), reports[0], reports[1])
	}
}

// TestTakesOver: a key whose holder gave up without an answer is taken over.
func TestTakesOver(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	s := leaf(&value)
	add(g, "a", s)
	m := newManifest("step", nil)
	m.String("value", value)
	release, ok, err := p.lock.Lock(t.Context(), m.Key())
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	time.AfterFunc(30*time.Millisecond, release)
	o := p.options()
	o.LockPoll = time.Millisecond
	r := p.executeWith(t.Context(), g, o)
	wantStates(t, g, r, "a done")
	if r.Status(0).Attempts != 1 || s.ran.Load() != 1 {
		t.Errorf("attempts %d, ran %d", r.Status(0).Attempts, s.ran.Load())
	}
}

// A node takes its declared number of slots, at most all, and never waits for ever.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		g := New()
		var mu sync.Mutex
		used, most := 0, 0
		for i := range 20 {
			addr := fmt.Sprintf("n%d", i)
			slots := []int{0, 1, 2, 9}[i%4]
			takes := min(max(slots, 1), 3)
			s := &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
				mu.Lock()
				used += takes
				most = max(most, used)
				mu.Unlock()
				time.Sleep(time.Second)
				mu.Lock()
				used -= takes
				mu.Unlock()
				return out(ctx, w, addr)
			}}
			g.Node(add(g, addr, s)).Slots = slots
		}
		o := p.options()
		o.Pools = map[string]int{CPUPool: 3}
		r := p.executeWith(t.Context(), g, o)
		if r.Executed != 20 || most != 3 {
			t.Errorf("executed %d with at most %d slots at once", r.Executed, most)
		}
		if b := g.Bound(r, o.Pools); b.Slots < (5+5+10+15)/3 {
			t.Errorf("bound %v", b)
		}
	})
}

// Work that failed blocks what needs it and is done again by the next run, and in this one only if its policy allows
// it.
func TestFailedWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProject(t)
		tries := 0
		build := func(retry Retry, failures int) *Graph {
			g := New()
			tries = 0
			first := add(g, "first", &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
				if tries++; tries <= failures {
					return Outcome{}, fmt.Errorf("output: %w", &FailedError{errors.New("exit code 3")})
				}
				return out(ctx, w, "first")
			}})
			g.Node(first).Retry = retry
			add(g, "second", &step{}, first)
			return g
		}
		for _, one := range []struct {
			retry                    Retry
			failures, tries, blocked int
		}{
			{Retry{Attempts: 3}, 1, 1, 1},
			{Retry{Attempts: 3, Failures: true}, 9, 3, 1},
			{Retry{}, 9, 1, 1},
			{Retry{Attempts: 3, Failures: true}, 2, 3, 0},
		} {
			g := build(one.retry, one.failures)
			r := p.executeWith(t.Context(), g, p.options())
			st := r.Status(0)
			if tries != one.tries || r.Blocked != one.blocked || r.Failed != one.blocked || r.InputErrors != 0 {
				t.Errorf("%+v: %d tries, %d blocked, %d failed: %q", one, tries, r.Blocked, r.Failed, st.Message)
			}
			if last := r.Last(0); one.blocked > 0 && (last.Ended() != event.Failed || !last.Key.IsZero() || r.Status(1).Culprit != "first") {
				t.Errorf("%+v: left %+v", one, last)
			}
		}
	})
}
