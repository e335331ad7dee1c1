package graph

import (
	"cmp"
	"maps"
	"slices"
)

// claims prevents nodes from running concurrently if they need the same resource: a name in
// Node.Exclusive, or a key. Of nodes with the same key, the first does the work and the others are then
// served its answer. A resource is claimed, and has an entry, while a node that needs it runs. If a queued
// node needs a claimed resource, it is set aside, so that it holds no slot of its pool, and queued again
// when the resource is released; of all waiting nodes, the one with the longest chain goes first. A node
// only waits for others that share a resource with it: finitely many, and each runs once.
type claims map[any][]ID // nodes that wait for each resource, in phase queued

// exclusiveNames returns the resources that no other node may claim while a node runs.
func (s *scheduler) exclusiveNames(id ID) []any {
	things := []any{s.statusOf(id).Key}
	for _, name := range s.g.Node(id).Exclusive {
		things = append(things, name)
	}
	return things
}

// claim claims all resources of a node before it runs. If one is not free, it claims none and sets the
// node aside, as it does until the next pass if an input is lost.
func (s *scheduler) claim(id ID) bool {
	if s.lacksInput(id) {
		s.countQueued(id, -1)
		s.phase[id] = postponed
		return false
	}
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

// release releases the resources of a node that ran, and queues the nodes that waited for them.
func (s *scheduler) release(id ID) {
	for _, thing := range s.exclusiveNames(id) {
		for _, waiting := range s.claims[thing] {
			s.poolOf(waiting).ready.push(waiting)
		}
		delete(s.claims, thing)
	}
}

// serialise raises the priorities of nodes that share a name. They run one after another, so each counts
// as the head of a chain of the nodes after it. Otherwise many short nodes with the same name would be
// left for the end, where they run alone.
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
