package graph

import (
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// loss notes that a settled node was taken back: because its stored outputs
// turned out to be gone or damaged, or because an input of it was replaced.
type loss struct {
	forced bool           // must run again, whatever the store says
	open   bool           // not settled again yet
	times  int            // how often its outputs were lost in this execution
	before []cache.Output // the outputs that its dependents were decided with
	usable bool           // whether they were usable
}

// maxLosses bounds how often one node is made again in one execution; a store
// that keeps losing blobs is broken. It is more than one because what is below
// a damaged directory of a tree shows only once that directory is back.
const maxLosses = 4

// heal answers an attempt that found an input missing from the store, for
// example after gc or a flipped bit: the dependencies with missing outputs run
// again, then the node. It reports whether err was of that kind and there is
// hope.
func (s *scheduler) heal(ctx context.Context, id ID, err error) bool {
	var missing *cache.MissingError
	var corrupt *cache.CorruptError
	if !errors.As(err, &missing) && !errors.As(err, &corrupt) {
		return false
	}
	var gone []ID
	inWork := false // another dependent has noticed a loss before
	for _, d := range s.g.Node(id).Deps {
		switch {
		case s.phase[d.On] != settled:
			inWork = true
		case slices.Contains(gone, d.On) || s.complete(ctx, d.On):
		case s.again[d.On].times >= maxLosses:
			return false
		default:
			gone = append(gone, d.On)
		}
	}
	if len(gone) == 0 && !inWork {
		// Somebody made the blob again since, or it was never a dependency's.
		if s.vain[id]++; s.vain[id] > maxLosses {
			return false
		}
	}
	for _, dep := range gone {
		s.status[dep].Attempts = 0
		s.takeBack(dep, true)
	}
	s.reconsider(id)
	return true
}

// complete reads all that a node's outputs consist of. Damaged blobs are
// dropped by that, all at once: finding them one by one would take an attempt
// of the dependents for each.
func (s *scheduler) complete(ctx context.Context, id ID) bool {
	complete := true
	for _, o := range s.status[id].Outputs {
		complete = cache.Intact(ctx, s.o.Store, o) && complete
	}
	return complete
}

// takeBack makes a settled node undecided. Dependents that have not begun wait
// for it again; those that run or are settled are revisited if its outputs
// turn out to differ.
func (s *scheduler) takeBack(id ID, forced bool) {
	l := s.again[id]
	l.forced, l.open, l.before, l.usable = forced, true, s.status[id].Outputs, s.usable(id)
	if forced {
		l.times++
	}
	s.again[id] = l
	s.open++
	n, st := s.g.Node(id), &s.status[id]
	cause := "an input was made anew"
	if forced {
		cause = "its output is no longer in the store"
	}
	s.o.Sink.Emit(event.NodeReopened{Type: "node.reopened", Addr: n.Addr, Kind: n.Kind, State: st.State, Cause: cause})
	st.State = "" // it has nothing to offer now
	s.reconsider(id)
	for _, user := range s.users[id] {
		switch s.phase[user] {
		case undecided, queued, parked, sleeping:
			s.reconsider(user)
		}
	}
}

// recovered closes a loss when its node settles again and reports whether
// dependents would now be decided with something else.
func (s *scheduler) recovered(id ID) bool {
	l, ok := s.again[id]
	if !ok || !l.open {
		return false
	}
	l.forced, l.open = false, false
	s.again[id] = l
	return l.usable != s.usable(id) || !slices.Equal(l.before, s.status[id].Outputs)
}

// revisitUsers decides again whatever used outputs that have been replaced.
func (s *scheduler) revisitUsers(id ID) {
	for _, user := range s.users[id] {
		switch s.phase[user] {
		case running:
			s.dirty[user] = true
		case settled:
			s.takeBack(user, false)
		}
	}
}
