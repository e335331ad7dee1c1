package graph

import (
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// rebuild describes the invalidation of a resolved node, because its stored outputs are missing or
// damaged, or because an input of it was replaced.
type rebuild struct {
	forced     bool           // the node must run again, regardless of the store
	open       bool           // the node has not been resolved again
	times      int            // how often its outputs were lost in this execution
	oldOutputs []cache.Output // the outputs that its dependents were decided with
	usable     bool           // whether they were usable
}

// loss is a dependency whose outputs are not all in the store.
type loss struct {
	id      ID
	outputs []cache.Output
	times   int // of its rebuild when the outputs were checked
}

// maxLosses limits how often a node is rebuilt in an execution; a store that keeps losing blobs is broken.
// It is more than 1 because losses below a damaged directory of a tree become visible only after that
// directory was restored.
const maxLosses = 4

// canHeal reports whether an attempt broke because the store lacks an input, for example after gc or a
// flipped bit, and can succeed after a rebuild. It notes which dependencies must run again.
func (s *scheduler) canHeal(ctx context.Context, a *attempt) bool {
	var missing *cache.MissingError
	var corrupt *cache.CorruptError
	if !errors.As(a.result.err, &missing) && !errors.As(a.result.err, &corrupt) {
		return false
	}
	lost, underWay := s.dependencies(a.n)
	lost = slices.DeleteFunc(lost, func(l loss) bool { return s.intact(ctx, l.outputs) })
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range lost {
		switch {
		case !s.isCurrent(l):
			underWay = true // another dependent has already noticed the loss
		case l.times >= maxLosses:
			return false
		}
	}
	if len(lost) == 0 && !underWay {
		// The blob was restored, or it belongs to no dependency.
		if s.fruitlessHeals[a.id]++; s.fruitlessHeals[a.id] > maxLosses {
			return false
		}
	}
	a.result.lost = lost
	return true
}

// lostInputs returns, if a dry run must foresee losses, the dependencies of a node that a run would have to make
// again, since the node's work reads outputs that the store lacks.
func (s *scheduler) lostInputs(ctx context.Context, d *decision) (lost []ID) {
	if !s.o.Losses {
		return nil
	}
	for i := range d.inputs {
		in := &d.inputs[i]
		if in.state != event.Cached || slices.Contains(lost, in.dep.On) {
			continue
		}
		if slices.ContainsFunc(in.dep.Outputs, func(name string) bool { o, ok := in.output(name); return ok && !s.complete(ctx, o) }) {
			lost = append(lost, in.dep.On)
		}
	}
	return lost
}

// complete reports whether the store has all of an output, without reading files. It looks once for each output.
func (s *scheduler) complete(ctx context.Context, o cache.Output) bool {
	if known, ok := s.completes.Load(o); ok {
		return known.(bool)
	}
	err := cache.OutputComplete(ctx, s.o.Store, o)
	ok := !errors.As(err, new(*cache.MissingError)) && !errors.As(err, new(*cache.CorruptError)) // a run finds other errors
	s.completes.Store(o, ok)
	return ok
}

// foresee decides again about nodes that a run would make again, in a dry run.
func (s *scheduler) foresee(lost []ID) {
	for _, id := range lost {
		if s.phase[id] == resolved && s.rebuilds[id].times == 0 {
			s.invalidate(id, true)
		}
	}
}

// dependencies returns the distinct resolved dependencies of a node, and whether it has others.
func (s *scheduler) dependencies(n *Node) (all []loss, underWay bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make(map[ID]bool, len(n.Deps))
	for _, d := range n.Deps {
		switch {
		case s.phase[d.On] != resolved:
			underWay = true
		case !seen[d.On]:
			seen[d.On] = true
			all = append(all, loss{d.On, s.statusOf(d.On).Outputs, s.rebuilds[d.On].times})
		}
	}
	return all, underWay
}

// isCurrent reports whether a loss has not been healed since it was noticed.
func (s *scheduler) isCurrent(l loss) bool {
	return s.phase[l.id] == resolved && s.rebuilds[l.id].times == l.times
}

// intact reads all blobs of outputs. The store drops the damaged ones: finding them one by one would take
// an attempt of a dependent for each.
func (s *scheduler) intact(ctx context.Context, outputs []cache.Output) bool {
	intact := true
	for _, o := range outputs {
		intact = cache.Intact(ctx, s.o.Store, o) && intact
	}
	return intact
}

// rebuild makes dependencies with lost outputs run again.
func (s *scheduler) rebuild(lost []loss) {
	for _, l := range lost {
		if s.isCurrent(l) {
			s.invalidate(l.id, true)
			s.status[l.id].Attempts = 0
		}
	}
}

// invalidate makes a resolved node undecided. Dependents that have not begun wait for it again; running or
// resolved ones are revisited if its outputs change.
func (s *scheduler) invalidate(id ID, forced bool) {
	n, st, r := s.g.Node(id), s.ownStatus(id), s.rebuilds[id]
	r.forced, r.open, r.oldOutputs, r.usable = forced, true, st.Outputs, s.usable(id)
	if forced {
		r.times++
	}
	s.rebuilds[id] = r
	s.open++
	cause := "an input was made again"
	if forced {
		cause = causeLost
	}
	s.o.Sink.Emit(event.NodeReopened{Type: "node.reopened", Addr: n.Addr, Kind: n.Kind, State: st.State, Cause: cause})
	st.State, st.Stored = "", false // it temporarily has no outputs to consume
	s.reconsider(id)
	for _, user := range s.users[id] {
		switch s.phase[user] {
		case deciding:
			s.outdated[user] = true
		case undecided, queued, parked, sleeping:
			s.reconsider(user)
		}
	}
}

// rebuilt ends the rebuild of a node that is resolved again, and reports whether dependents were decided
// with other outputs.
func (s *scheduler) rebuilt(id ID) bool {
	r, ok := s.rebuilds[id]
	if !ok || !r.open {
		return false
	}
	r.forced, r.open = false, false
	s.rebuilds[id] = r
	return r.usable != s.usable(id) || !slices.Equal(r.oldOutputs, s.statusOf(id).Outputs)
}

// revisitUsers decides again the nodes that used replaced outputs.
func (s *scheduler) revisitUsers(id ID) {
	for _, user := range s.users[id] {
		switch s.phase[user] {
		case running, deciding, reporting:
			s.outdated[user] = true
		case resolved:
			if !s.o.DryRun || !s.statusOf(user).Stale { // a stale node keeps its own cause
				s.invalidate(user, false)
			}
		}
	}
}
