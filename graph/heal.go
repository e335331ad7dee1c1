package graph

import (
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
)

// loss notes that a node's stored outputs turned out to be gone or damaged
// after the node had been served from the store.
type loss struct {
	forced bool           // must run again, whatever the store says
	open   bool           // not settled again yet
	times  int            // how often it happened in this execution
	before []cache.Output // the outputs that its dependents were decided with
}

// maxLosses bounds how often one node is made again in one execution; a store
// that keeps losing blobs is broken.
const maxLosses = 2

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
	for _, d := range s.g.Node(id).Deps {
		if s.complete(ctx, d.On) {
			continue
		}
		if s.lost[d.On].times >= maxLosses {
			return false
		}
		if !slices.Contains(gone, d.On) {
			gone = append(gone, d.On)
		}
	}
	if len(gone) == 0 {
		return false
	}
	s.phase[id] = undecided
	for _, dep := range gone {
		s.reopen(dep)
	}
	for _, dep := range gone {
		s.decide(ctx, dep)
	}
	return true
}

func (s *scheduler) complete(ctx context.Context, id ID) bool {
	for _, o := range s.status[id].Outputs {
		if o.Tree {
			if cache.TreeComplete(ctx, s.o.Store, o.Digest) != nil {
				return false
			}
		} else if ok, err := s.o.Store.Has(ctx, o.Digest); err != nil || !ok {
			return false
		}
	}
	return true
}

// reopen takes a settled node back. Dependents that are not decided yet wait
// for it again; those that are will be revisited if its outputs change.
func (s *scheduler) reopen(id ID) {
	l := s.lost[id]
	s.lost[id] = loss{forced: true, open: true, times: l.times + 1, before: s.status[id].Outputs}
	s.phase[id] = undecided
	s.status[id].Attempts = 0
	s.open++
	for _, user := range s.users[id] {
		if s.phase[user] == undecided {
			for _, d := range s.g.Node(user).Deps {
				if d.On == id {
					s.waiting[user]++
				}
			}
		}
	}
}

// recovered closes a loss when its node settles again and reports whether the
// outputs differ from those that dependents were decided with.
func (s *scheduler) recovered(id ID) bool {
	l, ok := s.lost[id]
	if !ok || !l.open {
		return false
	}
	l.forced, l.open = false, false
	s.lost[id] = l
	return !slices.Equal(l.before, s.status[id].Outputs)
}

// revisit decides a node again whose input was replaced.
func (s *scheduler) revisit(ctx context.Context, id ID) {
	switch s.phase[id] {
	case queued, running:
		s.dirty[id] = true
	case settled:
		s.phase[id] = undecided
		s.open++
		s.lost[id] = loss{open: true, times: s.lost[id].times, before: s.status[id].Outputs}
		s.decide(ctx, id)
	}
}
