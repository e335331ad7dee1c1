package eval

import "github.com/fevalgraph/fevalgraph/event"

// counts are of the nodes that a request is about.
type counts struct {
	nodes   int // all of them
	decided int // those that the engine decides about
	// What serving the others saves; see event.RunEnd.
	bytes   int64
	seconds float64
}

// count counts the nodes of some goals. Those of fresh partitions are in the graph, or
// counted by their partitions.
func (p *Project) count(g goals) (c counts) {
	if p.Plan == nil || p.depth == summits {
		c = p.countClosed()
	}
	if p.Plan == nil {
		return c
	}
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		switch n := p.Plan.Graph.Node(id); {
		case n.Pinned == nil:
			c.nodes++
			c.decided++
		case p.depth == rows:
			c.nodes++
			c.seconds += n.Pinned.Seconds
			for _, o := range n.Pinned.Outputs {
				c.bytes += o.Digest.Size
			}
		}
	}
	return c
}

// countClosed counts the nodes that no graph has, because their partitions are fresh.
func (p *Project) countClosed() (c counts) {
	common := map[string]bool{}
	for _, part := range p.parts {
		if f := part.facts; f != nil {
			c.nodes, c.bytes, c.seconds = c.nodes+f.Own, c.bytes+f.SavedBytes, c.seconds+f.SavedSeconds
			for _, c := range f.Common {
				common[c.Addr] = true
			}
		}
	}
	for addr := range common {
		if p.Plan != nil {
			if id, ok := p.Plan.Graph.Lookup(addr); ok && p.Plan.Graph.Node(id).Pinned == nil {
				continue // counted with the graph's
			}
		}
		c.nodes++
	}
	if p.Plan == nil {
		c.nodes, c.bytes, c.seconds = c.nodes+p.known.index.SuiteNodes, c.bytes+p.known.index.SuiteBytes, c.seconds+p.known.index.SuiteTime
	}
	return c
}

// announce reports the nodes that the engine does not: to the record by partition where
// nothing of it is compiled, and one by one otherwise.
func (p *Project) announce(g goals, rec *recording, each bool) {
	if p.Plan == nil || p.depth == summits {
		for _, part := range p.parts {
			if f := part.facts; f != nil {
				rec.Emit(event.NodesSame{Type: "nodes.same", Problem: part.Problem, Partition: part.File.String(), Nodes: f.Own + len(f.Common)})
			}
		}
		return
	}
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		if n := p.Plan.Graph.Node(id); n.Pinned != nil {
			done := n.PinnedEvent()
			rec.Emit(done)
			if each {
				rec.sinks[1:].Emit(done)
			}
		}
	}
}
