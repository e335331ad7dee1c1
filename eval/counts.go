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

// count counts the nodes of some goals, those of closed partitions by their facts.
func (p *Project) count(g goals) counts {
	c := counts{nodes: p.suites.Nodes, bytes: p.suites.Bytes, seconds: p.suites.Seconds}
	common := map[string]bool{}
	for _, part := range p.closed() {
		f := part.facts
		c.nodes, c.bytes, c.seconds = c.nodes+f.Own, c.bytes+f.SavedBytes, c.seconds+f.SavedSeconds
		for _, c := range f.Common {
			common[c.Addr] = true
		}
	}
	for addr := range common {
		if id, ok := p.Plan.Graph.Lookup(addr); !ok || p.Plan.Graph.Node(id).Pinned != nil { // others are below
			c.nodes++
		}
	}
	for _, id := range p.nodes(g) {
		c.nodes++
		pinned := p.Plan.Graph.Node(id).Pinned
		if pinned == nil {
			c.decided++
			continue
		}
		c.seconds += pinned.Seconds
		for _, o := range pinned.Outputs {
			c.bytes += o.Digest.Size
		}
	}
	return c
}

// announce reports the nodes that the engine does not: to the record by partition where it is
// closed, and one by one otherwise.
func (p *Project) announce(g goals, rec *recording, each bool) {
	for _, part := range p.closed() {
		rec.Emit(event.NodesSame{Type: "nodes.same", Problem: part.Problem, Partition: part.File.String(), Nodes: part.facts.Own + len(part.facts.Common)})
	}
	for _, id := range p.nodes(g) {
		if n := p.Plan.Graph.Node(id); n.Pinned != nil {
			done := n.PinnedEvent()
			rec.Emit(done)
			if each {
				rec.sinks[1:].Emit(done)
			}
		}
	}
}
