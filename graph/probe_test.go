package graph

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
)

// A failed probe moves one of the waiting nodes and leaves the others in their order: queueing all of them again took
// quadratic time. An answered probe releases all.
func TestFailedProbeMovesOne(t *testing.T) {
	g := New()
	const n = 50
	for i := range n {
		g.Add(Node{Addr: fmt.Sprint(i), Probes: []string{"docker"}})
	}
	s := &scheduler{g: g, probes: map[string]*probe{}}
	s.todo.priority = make([]float64, n)
	for id := range ID(n) {
		if s.beginProbes(id) != (id == 0) {
			t.Fatalf("node %d", id)
		}
	}
	for id := range ID(n - 1) {
		d := &decision{n: g.Node(id)}
		if id == n-2 {
			d.status.Key[0] = 1
		}
		s.endProbes(d)
		want := 0
		if id == n-2 {
			want = 1
		}
		if len(s.todo.ids) != want {
			t.Fatalf("%d nodes are queued after probe %d, want %d", len(s.todo.ids), id, want)
		}
		if next, ok := s.nextUndecided(); !ok || next != id+1 || !s.beginProbes(next) {
			t.Fatalf("node %d follows %d", next, id)
		}
	}
	if next, ok := s.nextUndecided(); ok {
		t.Errorf("node %d is still there", next)
	}
}

// Nodes with several probes that sometimes fail are all decided, whichever probe they wait for.
func TestSeveralProbes(t *testing.T) {
	for failures := range 12 {
		p, g := newProject(t), New()
		names := []string{"a", "b", "c"}
		var mu sync.Mutex
		left, broken := map[string]int{"a": failures, "b": failures % 5, "c": 2 * failures}, 0
		for i := range 60 {
			var of []string
			for at, name := range names {
				if i>>at&1 == 1 {
					of = append(of, name)
				}
			}
			g.Add(Node{Addr: fmt.Sprint(i), Kind: "step", Probes: of, Task: &step{
				describe: func(m *Manifest) error {
					mu.Lock()
					defer mu.Unlock()
					m.Int("number", int64(i))
					for _, name := range of {
						if left[name]--; left[name] >= 0 {
							broken++
							return errors.New("no answer")
						}
					}
					return nil
				},
				work: func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, "x") },
			}})
		}
		r, err := g.Execute(t.Context(), everything(g), p.options())
		if err != nil || r.Broken != broken || r.Executed != 60 {
			t.Errorf("%d failures: %+v, %v; %d are broken", failures, r, err, broken)
		}
	}
}
