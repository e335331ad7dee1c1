package graph

import (
	"maps"
	"slices"
)

// Bound contains two lower bounds, Chain and Slots, for the duration of any schedule of an execution's
// work. Times are in seconds.
type Bound struct {
	// Chain is the critical path, the longest chain of work that must run one
	// after another, because of edges or exclusive names.
	Chain float64
	Slots float64 // maximum over pools: duration of its work with all slots busy
	Work  float64 // total duration of work
	Size  int     // number of slots of that pool
}

// Idle returns how many of those slots were idle on average, in an execution with a duration in seconds.
func (b Bound) Idle(seconds float64) float64 {
	if seconds <= 0 {
		return 0
	}
	return max(0, float64(b.Size)*(1-b.Slots/seconds))
}

// Bound returns the lower bound for the work that the execution did, based on measured durations.
func (g *Graph) Bound(r *Report, pools map[string]int) Bound {
	var b Bound
	chain := make([]float64, g.Len())
	work, exclusive := map[string]float64{}, map[string]float64{}
	for _, id := range r.Nodes {
		n, st := g.Node(id), r.Status(id)
		for _, d := range n.Deps {
			chain[id] = max(chain[id], chain[d.On])
		}
		if !st.Stale {
			continue
		}
		chain[id] += st.Seconds
		b.Chain = max(b.Chain, chain[id])
		for _, name := range n.Exclusive {
			exclusive[name] += st.Seconds
		}
		pool := n.Pool
		if _, known := pools[pool]; !known {
			pool = CPUPool
		}
		work[pool] += st.Seconds * float64(min(max(n.Slots, 1), max(pools[pool], 1)))
		b.Work += st.Seconds
	}
	for _, seconds := range exclusive {
		b.Chain = max(b.Chain, seconds)
	}
	for _, pool := range slices.Sorted(maps.Keys(work)) {
		size := pools[pool]
		if size == 0 {
			continue
		}
		if least := work[pool] / float64(size); least > b.Slots {
			b.Slots, b.Size = least, size
		}
	}
	return b
}
