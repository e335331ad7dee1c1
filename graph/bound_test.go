package graph

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
)

func TestBound(t *testing.T) {
	g := New()
	a := g.Add(Node{Addr: "a"})
	b := g.Add(Node{Addr: "b", Deps: []Dep{{On: a}}})
	c := g.Add(Node{Addr: "c"})
	d := g.Add(Node{Addr: "d", Pool: "one", Deps: []Dep{{On: c}}})
	r := &Report{Nodes: []ID{a, b, c, d}, statuses: []*Status{
		{State: event.Done, Stale: true, Seconds: 3},
		{State: event.Done, Stale: true, Seconds: 4},
		{State: event.Cached, Seconds: 100}, // an earlier run's
		{State: event.Done, Stale: true, Seconds: 5},
	}}
	got := g.Bound(r, map[string]int{CPUPool: 2, "one": 1})
	if want := (Bound{Chain: 7, Slots: 5, Work: 12, Size: 1}); got != want {
		t.Errorf("with two slots: %+v, want %+v", got, want)
	}
	got = g.Bound(r, map[string]int{CPUPool: 1, "one": 1})
	if want := (Bound{Chain: 7, Slots: 7, Work: 12, Size: 1}); got != want {
		t.Errorf("with one slot: %+v, want %+v", got, want)
	}
	// Nodes that must not run at the same time form a chain.
	for _, id := range []ID{a, d} {
		g.Node(id).Exclusive = []string{"port 8080"}
	}
	got = g.Bound(r, map[string]int{CPUPool: 2, "one": 1})
	if want := (Bound{Chain: 8, Slots: 5, Work: 12, Size: 1}); got != want {
		t.Errorf("with a port: %+v, want %+v", got, want)
	}
	for seconds, want := range map[float64]float64{5: 0, 10: 1, 20: 1.5, 0: 0, 4: 0} {
		if got := (Bound{Slots: 5, Size: 2}).Idle(seconds); got != want {
			t.Errorf("of two slots with 5s of work each, %v stood empty in %vs; want %v", got, seconds, want)
		}
	}
}
