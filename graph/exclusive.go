package graph

import (
	"cmp"
	"maps"
	"slices"
)

// claims keeps nodes apart that want the same thing: a name in Node.Exclusive, or
// a key. Of nodes with the same key, the first does the work and the others are
// then served its answer. A thing is claimed, and has an entry, while a node that
// wants it runs. A queued node that finds one claimed is set aside, so that it
// blocks no slot of its pool, and queued again when the thing is released; of all
// that wait for a thing, the longest chain goes first. A node waits only for others
// that share a thing with it: finitely many, each of which runs once.
type claims map[any][]ID // nodes that wait for each thing: in phase queued, and some that left it

// exclusiveNames returns the things that no other node may claim while a node runs.
func (s *scheduler) exclusiveNames(id ID) []any {
	things := []any{s.status[id].Key}
	for _, name := range s.g.Node(id).Exclusive {
		things = append(things, name)
	}
	return things
}

// claim takes all that a node wants before it runs. If a thing is not free, it
// takes nothing and sets the node aside.
func (s *scheduler) claim(id ID) bool {
	things := s.exclusiveNames(id)
	for _, thing := range things {
		if waiting, claimed := s.claims[thing]; claimed {
			s.claims[thing] = append(waiting, id)
			return false
		}
	}
	for _, thing := range things {
		s.claims[thing] = nil
	}
	return true
}

// release frees what a node that ran has claimed, and queues the nodes that waited
// for it.
func (s *scheduler) release(id ID) {
	for _, thing := range s.exclusiveNames(id) {
		for _, waiting := range s.claims[thing] {
			if s.phase[waiting] == queued {
				s.poolOf(waiting).ready.push(waiting)
			}
		}
		delete(s.claims, thing)
	}
}

// serialise raises the priorities of nodes that share a name. They run one after another, so each counts as
// heading a chain of the nodes that run after it. Otherwise much short work on one name would be left for
// the end, where it runs alone.
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
