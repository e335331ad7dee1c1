package graph

import (
	"container/heap"
	"slices"
)

// priorities returns, for every node, the expected seconds of the longest
// chain of work from it to a target; starting long chains first keeps the
// slots busy to the end. Expected durations come from earlier executions; for
// a node that never ran, it is the median of its kind.
func (s *scheduler) priorities() {
	kinds := map[string][]float64{}
	for _, id := range s.closure {
		n := s.g.Node(id)
		if seconds := s.o.Last(n.Addr).Seconds; seconds > 0 {
			s.expected[id] = seconds
			kinds[n.Kind] = append(kinds[n.Kind], seconds)
		}
	}
	for _, known := range kinds {
		slices.Sort(known)
	}
	for i := len(s.closure) - 1; i >= 0; i-- {
		id := s.closure[i]
		n := s.g.Node(id)
		if known := kinds[n.Kind]; s.expected[id] == 0 && len(known) > 0 {
			s.expected[id] = known[(len(known)-1)/2]
		}
		s.priority[id] += s.expected[id] // longest chain below, added by dependents
		for _, d := range n.Deps {
			s.priority[d.On] = max(s.priority[d.On], s.priority[id])
		}
	}
	s.serialise()
}

// nodeQueue is a heap of node ids, longest remaining chain first, then by id,
// so that equal nodes start in source order.
type nodeQueue struct {
	ids      []ID
	priority []float64 // by ID, shared
}

func (q *nodeQueue) push(id ID) { heap.Push(q, id) }
func (q *nodeQueue) pop() ID    { return heap.Pop(q).(ID) }

// Len implements heap.Interface, as do the methods below.
func (q *nodeQueue) Len() int { return len(q.ids) }

// Less reports whether the i-th node sorts before the j-th.
func (q *nodeQueue) Less(i, j int) bool {
	a, b := q.ids[i], q.ids[j]
	if q.priority[a] != q.priority[b] {
		return q.priority[a] > q.priority[b]
	}
	return a < b
}

// Swap exchanges two nodes.
func (q *nodeQueue) Swap(i, j int) { q.ids[i], q.ids[j] = q.ids[j], q.ids[i] }

// Push appends a node.
func (q *nodeQueue) Push(x any) { q.ids = append(q.ids, x.(ID)) }

// Pop removes the last node.
func (q *nodeQueue) Pop() any {
	last := len(q.ids) - 1
	id := q.ids[last]
	q.ids = q.ids[:last]
	return id
}
