package graph

// priorities gives every node the expected seconds of the longest chain of
// work from it to a target; starting long chains first keeps the slots busy
// to the end. Expectations come from the build log; a node that never ran is
// taken for the mean of its kind.
func (s *scheduler) priorities() {
	type mean struct {
		sum   float64
		count int
	}
	kinds := map[string]*mean{}
	for _, id := range s.closure {
		n := s.g.Node(id)
		if kinds[n.Kind] == nil {
			kinds[n.Kind] = &mean{}
		}
		if last, ok := s.o.Log.Get(n.Addr); ok && last.Seconds > 0 {
			s.expected[id] = last.Seconds
			kinds[n.Kind].sum += last.Seconds
			kinds[n.Kind].count++
		}
	}
	for i := len(s.closure) - 1; i >= 0; i-- {
		id := s.closure[i]
		n := s.g.Node(id)
		if k := kinds[n.Kind]; s.expected[id] == 0 && k.count > 0 {
			s.expected[id] = k.sum / float64(k.count)
		}
		s.priority[id] += s.expected[id] // longest chain below, added by dependents
		for _, d := range n.Deps {
			s.priority[d.On] = max(s.priority[d.On], s.priority[id])
		}
	}
	s.serialise()
}

// readyQueue is a heap of node ids, longest remaining chain first, then by id
// so that equal work runs in source order.
type readyQueue struct {
	ids      []ID
	priority []float64 // by ID, shared
}

func (q *readyQueue) Len() int { return len(q.ids) }
func (q *readyQueue) Less(i, j int) bool {
	a, b := q.ids[i], q.ids[j]
	if q.priority[a] != q.priority[b] {
		return q.priority[a] > q.priority[b]
	}
	return a < b
}
func (q *readyQueue) Swap(i, j int) { q.ids[i], q.ids[j] = q.ids[j], q.ids[i] }
func (q *readyQueue) Push(x any)    { q.ids = append(q.ids, x.(ID)) }
func (q *readyQueue) Pop() any {
	last := len(q.ids) - 1
	id := q.ids[last]
	q.ids = q.ids[:last]
	return id
}
