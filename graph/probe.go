package graph

// probe is the state of a name in Node.Probes. It prevents all deciders from
// waiting for the same slow backend, which caches its first answer, while
// unrelated nodes wait for a decider.
type probe struct {
	answered bool // a decision with the name has computed a key
	underway bool // a decision with the name is running
	listed   bool // in scheduler.unanswered
	waiting  []ID // undecided nodes, until the probe is answered; highest priority first
}

// beginProbes reports whether a node can be decided now. If not, it is set
// aside until the decision that it waits for has ended.
func (s *scheduler) beginProbes(id ID) bool {
	names := s.g.Node(id).Probes
	for _, name := range names {
		if p := s.probes[name]; p != nil && p.underway && !p.answered {
			p.waiting = append(p.waiting, id)
			return false
		}
	}
	for _, name := range names {
		if s.probes[name] == nil {
			s.probes[name] = &probe{}
		}
		s.probes[name].underway = true
	}
	return true
}

// endProbes releases nodes that waited for a decision. If that has not
// computed a key, they stay set aside, and the first of them probes again:
// moving all of them after each failure would take quadratic time.
func (s *scheduler) endProbes(d *decision) {
	for _, name := range d.n.Probes {
		p := s.probes[name]
		if p.answered {
			continue
		}
		p.underway, p.answered = false, !d.status.Key.IsZero()
		if p.answered {
			for _, id := range p.waiting {
				s.todo.push(id)
			}
			p.waiting = nil
		} else if len(p.waiting) > 0 && !p.listed {
			p.listed = true
			s.unanswered = append(s.unanswered, p)
		}
	}
}

// nextUndecided takes a node that may be decided: the first of those in todo, or
// else the first that waits for a probe that failed.
func (s *scheduler) nextUndecided() (id ID, ok bool) {
	if len(s.todo.ids) > 0 {
		return s.todo.pop(), true
	}
	for len(s.unanswered) > 0 {
		p := s.unanswered[0]
		if !p.underway && len(p.waiting) > 0 {
			id, p.waiting = p.waiting[0], p.waiting[1:]
			return id, true
		}
		p.listed = false // endProbes lists it again
		s.unanswered = s.unanswered[1:]
	}
	return 0, false
}
