package graph

// Bound is what no schedule of an execution's work could have beaten: neither
// of the two.
type Bound struct {
	// Chain is the longest chain of work that waits for one another: by edges,
	// or because it may not run at the same time.
	Chain float64
	Slots float64 // the most that the work of any pool takes with all its slots busy
}

// Bound returns the lower bound for the work that the execution did, by the
// seconds it took.
func (g *Graph) Bound(r *Report, pools map[string]int) Bound {
	var b Bound
	chain := make([]float64, len(g.nodes))
	work, exclusive := map[string]float64{}, map[string]float64{}
	for _, id := range r.Nodes {
		n, st := &g.nodes[id], r.Status(id)
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
		work[pool] += st.Seconds
	}
	for _, seconds := range exclusive {
		b.Chain = max(b.Chain, seconds)
	}
	for pool, seconds := range work {
		if slots := pools[pool]; slots > 0 {
			b.Slots = max(b.Slots, seconds/float64(slots))
		}
	}
	return b
}
