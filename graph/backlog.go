package graph

import "sync"

// Backlog counts the nodes that wait for the slots of each pool of an execution, for a caller that decides
// how many machines to use. The zero value is ready to use, a nil Backlog is always empty, and it is safe
// for concurrent use. It can be an option of one execution at a time.
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

// Waiting returns how many stale nodes of a pool are ready and wait to run, and their total expected
// duration in seconds. An unknown duration counts as 0. It does not count nodes that are undecided, pause
// before another attempt, or are being worked on by another process.
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

// end empties the backlog permanently: no further node starts.
func (b *Backlog) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pools, b.started = nil, false
}

// add adds a number of queued nodes, which can be negative.
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

// countQueued reports to the backlog, if any, that a node enters the phase queued (1) or leaves it (-1).
func (s *scheduler) countQueued(id ID, nodes int) {
	if s.o.Backlog != nil {
		s.o.Backlog.add(s.poolName(s.g.Node(id)), nodes, float64(nodes)*s.expected[id])
	}
}
