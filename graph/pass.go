package graph

import (
	"cmp"
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// An execution runs in passes. Work that finds an input lost from the store is postponed, and its dependents
// wait with it. When nothing else is left to do, reopen prepares another pass, which runs the producers of lost
// outputs again, then what was postponed. A node whose input is replaced by another one is decided again in the
// pass after that. Nearly every execution has one pass.

// reopened describes a node that is to be decided in a pass after the first.
type reopened struct {
	forced bool // it must run again, regardless of the store
	// Its dependents were decided with outputs, and usable reports whether they had any.
	outputs []cache.Output
	usable  bool
}

// maxPostponements limits how often a node is postponed in an execution; a store that keeps losing blobs is
// broken. It is more than 1 because losses below a damaged directory of a tree become visible only after that
// directory was restored.
const maxPostponements = 4

// findLost returns the dependencies whose outputs an attempt lacked. It reports whether the attempt broke
// because the store lacks an input, for example after gc or a flipped bit, and can succeed in another pass. If it
// returns none, the blob was restored meanwhile.
func (s *scheduler) findLost(ctx context.Context, a *attempt) (lost []ID, ok bool) {
	if !cache.IsLost(a.result.err) {
		return nil, false
	}
	s.mu.Lock()
	s.postponed[a.id]++
	ok = s.postponed[a.id] <= maxPostponements
	outputs := map[ID][]cache.Output{}
	for _, d := range a.n.Deps {
		outputs[d.On] = s.statusOf(d.On).Outputs
	}
	s.mu.Unlock()
	if !ok {
		return nil, false
	}
	for id, outputs := range outputs {
		if !s.intact(ctx, outputs) {
			lost = append(lost, id)
		}
	}
	return lost, true
}

// intact reads all blobs of outputs. The store drops the damaged ones: finding them one by one would take
// a pass for each.
func (s *scheduler) intact(ctx context.Context, outputs []cache.Output) bool {
	intact := true
	for _, o := range outputs {
		intact = cache.Intact(ctx, s.o.Store, o) && intact
	}
	return intact
}

// lostInputs returns, if a dry run must foresee losses, the dependencies of a node that a run would have to make
// again, since the node's work reads outputs that the store lacks.
func (s *scheduler) lostInputs(ctx context.Context, d *decision) (lost []ID) {
	if !s.o.Losses {
		return nil
	}
	for i := range d.inputs {
		in := &d.inputs[i]
		if in.state == event.Cached && slices.ContainsFunc(in.dep.Outputs, func(name string) bool { o, ok := in.output(name); return ok && !s.complete(ctx, o) }) {
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
	ok := !cache.IsLost(cache.OutputComplete(ctx, s.o.Store, o)) // a run finds other errors
	s.completes.Store(o, ok)
	return ok
}

// lacksInput reports whether an attempt of this pass has found an input of a node to be lost.
func (s *scheduler) lacksInput(id ID) bool {
	return len(s.lost) > 0 && slices.ContainsFunc(s.g.Node(id).Deps, func(d Dep) bool { return s.lost[d.On] })
}

// addLost notes nodes that must run again in the next pass.
func (s *scheduler) addLost(lost []ID) {
	for _, id := range lost {
		s.lost[id] = true
	}
}

// reopen prepares another pass, if there is a reason for one: lost outputs, postponed nodes, and nodes that were
// decided with outputs that this pass has replaced.
func (s *scheduler) reopen(ctx context.Context) bool {
	if len(s.lost)+len(s.postponed)+len(s.reopened) == 0 {
		return false
	}
	before, replaced := s.reopened, map[ID]bool{}
	for id, r := range before {
		replaced[id] = s.phase[id] == resolved && (r.usable != s.usable(id) || !slices.Equal(r.outputs, s.statusOf(id).Outputs))
	}
	s.reopened = map[ID]*reopened{}
	for _, id := range s.closure {
		switch {
		case s.phase[id] != resolved:
			s.reopened[id] = cmp.Or(before[id], &reopened{})
		case s.lost[id]:
			s.reset(id, causeLost)
		case before[id] == nil && !s.keepsDecision(id) && slices.ContainsFunc(s.g.Node(id).Deps, func(d Dep) bool { return replaced[d.On] }):
			s.reset(id, "an input was made again")
		}
	}
	clear(s.lost)
	for _, id := range s.closure {
		if s.reopened[id] != nil {
			s.reconsider(id)
		}
	}
	return len(s.reopened) > 0 && !s.isStopped(ctx) // otherwise reopened nodes are interrupted
}

// keepsDecision reports whether a replaced input does not matter: a node that is stale in a dry run keeps its own
// cause.
func (s *scheduler) keepsDecision(id ID) bool { return s.o.DryRun && s.statusOf(id).Stale }

// reset makes a resolved node undecided.
func (s *scheduler) reset(id ID, cause string) {
	n, st := s.g.Node(id), s.ownStatus(id)
	s.reopened[id] = &reopened{forced: cause == causeLost, outputs: st.Outputs, usable: s.usable(id)}
	s.phase[id] = undecided
	s.open++
	s.o.Sink.Emit(event.NodeReopened{Type: "node.reopened", Addr: n.Addr, Kind: n.Kind, State: st.State, Cause: cause})
	st.State, st.Stored = "", false // it temporarily has no outputs to consume
	if cause == causeLost {
		st.Attempts = 0
	}
}
