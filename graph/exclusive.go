package graph

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
)

// claims keeps nodes apart that name the same thing in Node.Exclusive: a name
// is claimed while a node that has it runs. A queued node that finds a name
// claimed is set aside, so that it holds up nobody in its pool, and queued
// again when the name is released; of all that wait for one name, the longest
// chain goes first. What a node can wait for is the others that share a name
// with it: finitely many, each of which runs once.
//
// A key is such a thing, too: of nodes with the same one, the second is served
// what the first made, at once, and does not have to find out in a while that
// nobody works on its key any more.
type claims struct {
	held  map[string]bool
	aside map[string][]ID    // in phase queued, and some that left it
	keys  map[cache.Key][]ID // of running nodes, and who waits for each, as above
}

// claim takes the key and all names of a node that is to run. Otherwise it takes none and
// sets the node aside.
func (s *scheduler) claim(id ID) bool {
	names, key := s.g.Node(id).Exclusive, s.status[id].Key
	if waiting, held := s.claims.keys[key]; held {
		s.claims.keys[key] = append(waiting, id)
		return false
	}
	for _, name := range names {
		if s.claims.held[name] {
			s.claims.aside[name] = append(s.claims.aside[name], id)
			return false
		}
	}
	for _, name := range names {
		s.claims.held[name] = true
	}
	s.claims.keys[key] = nil
	return true
}

// release gives back the key and the names of a node that ran, and queues again what
// waited for them.
func (s *scheduler) release(id ID) {
	for _, name := range s.g.Node(id).Exclusive {
		delete(s.claims.held, name)
		s.queueAgain(s.claims.aside[name])
		delete(s.claims.aside, name)
	}
	key := s.status[id].Key
	s.queueAgain(s.claims.keys[key])
	delete(s.claims.keys, key)
}

func (s *scheduler) queueAgain(aside []ID) {
	for _, id := range aside {
		if s.phase[id] == queued {
			heap.Push(&s.poolOf(id).ready, id)
		}
	}
}

// serialise raises the priorities of nodes that share a name. They run one
// after another, so each has those that will run after it behind it, as if
// they were a chain. Without that, much short work on one name would be left
// for the end, where it cannot be spread.
func (s *scheduler) serialise() {
	sharing := map[string][]ID{}
	for _, id := range s.closure {
		for _, name := range s.g.Node(id).Exclusive {
			sharing[name] = append(sharing[name], id)
		}
	}
	if len(sharing) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(sharing)) {
		ids := sharing[name]
		slices.SortFunc(ids, func(a, b ID) int { // last to run first
			return cmp.Or(cmp.Compare(s.priority[a], s.priority[b]), cmp.Compare(b, a))
		})
		behind := 0.0
		for _, id := range ids {
			behind = max(s.priority[id], s.expected[id]+behind)
			s.priority[id] = behind
		}
	}
	for _, id := range slices.Backward(s.closure) {
		for _, d := range s.g.Node(id).Deps {
			s.priority[d.On] = max(s.priority[d.On], s.expected[d.On]+s.priority[id])
		}
	}
}
