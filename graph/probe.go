package graph

// probe is the state of a name in Node.Probes. It prevents all deciders from
// waiting for the same slow backend, which caches its first answer, while
// unrelated nodes wait for a decider.
type probe struct {
	answered bool // a decision with the name has been made
	waiting  []ID // undecided nodes, while the first decision is running
}

// beginProbes reports whether a node can be decided now. If not, it is set
// aside until the decision that it waits for has ended.
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

// endProbes releases nodes that waited for a decision. If that has not
// computed a key, the first of them probes again.
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
