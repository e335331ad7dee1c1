package graph

// probe is the state of a name in Node.Probes. Without one, all deciders could
// wait for the same slow backend, which answers the first of them and keeps the
// answer, while nodes that have nothing to do with it wait for a decider.
type probe struct {
	answered bool // a decision with the name has been made
	waiting  []ID // undecided nodes, while the first decision is under way
}

// beginProbes reports whether a node can be decided now. If not, it is set aside
// until the decision that it waits for is over.
func (s *scheduler) beginProbes(id ID) bool {
	names := s.g.Node(id).Probes
	for _, name := range names {
		if p := s.probes[name]; p != nil && !p.answered {
			p.waiting = append(p.waiting, id)
			return false
		}
	}
	for _, name := range names {
		if s.probes[name] == nil {
			s.probes[name] = &probe{}
		}
	}
	return true
}

// endProbes lets nodes be decided that waited for a decision. If that has not got
// as far as a key, the first of them probes again.
func (s *scheduler) endProbes(d *decision) {
	for _, name := range d.n.Probes {
		p := s.probes[name]
		if p.answered {
			continue
		}
		for _, id := range p.waiting {
			s.todo.push(id)
		}
		if d.status.Key.IsZero() {
			delete(s.probes, name)
		} else {
			p.answered, p.waiting = true, nil
		}
	}
}
