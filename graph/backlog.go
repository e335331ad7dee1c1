package graph

import "sync"

// Backlog counts the nodes that wait for the slots of each pool of an execution, for a caller that decides
// how many machines there should be. The zero value is ready, nil is always empty, and it is safe for
// concurrent use. One execution at a time has it as an option.
type Backlog struct {
	mu      sync.Mutex
	pools   map[string]waiting
	started bool // an execution starts nodes; what is queued afterwards never runs
}

// waiting are the queued nodes of a pool.
type waiting struct {
	nodes   int
	seconds float64
}

// Waiting returns how many nodes of a pool are known to be stale and ready to run, and do not run, and the
// seconds that they are expected to take together. A node that takes an unknown time counts as 0 seconds. It
// does not count nodes that have not been decided yet, pause before another attempt, or are worked on by
// another process.
func (b *Backlog) Waiting(pool string) (nodes int, seconds float64) {
	if b == nil {
		return 0, 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.pools[pool]
	return w.nodes, w.seconds
}

// begin empties the backlog for an execution.
func (b *Backlog) begin() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pools, b.started = map[string]waiting{}, true
}

// end empties the backlog for good: nothing new starts.
func (b *Backlog) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pools, b.started = nil, false
}

// add counts nodes that were queued, or, if they are fewer than 0, that no longer are.
func (b *Backlog) add(pool string, nodes int, seconds float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.started {
		return
	}
	w := b.pools[pool]
	w.nodes += nodes
	w.seconds += seconds
	if w.nodes == 0 {
		w.seconds = 0 // sums of fractions do not end at 0
	}
	b.pools[pool] = w
}

// countQueued reports to the backlog, if there is one, that a node enters the phase queued, with 1, or
// leaves it, with -1.
func (s *scheduler) countQueued(id ID, nodes int) {
	if s.o.Backlog != nil {
		s.o.Backlog.add(s.poolName(s.g.Node(id)), nodes, float64(nodes)*s.expected[id])
	}
}
