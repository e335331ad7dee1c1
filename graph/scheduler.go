package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// scheduler owns the state of one execution. The state changes only under mu,
// and nothing waits for a task, the store or another process while holding it:
// workers do that, in jobs. A worker that has run a job applies the result
// under mu, schedules the jobs that have become possible, and runs one of them
// itself.
//
// Two invariants hold whenever mu is free. For an undecided node, waiting is
// the number of its edges to unresolved nodes; if it is 0, the node is in todo
// or waits for a probe. Dependencies of a node in any other phase are resolved,
// and stay so until the end of a pass; see reopen.
type scheduler struct {
	g       *Graph
	o       Options
	closure []ID

	mu      sync.Mutex
	workers sync.WaitGroup // awaited by run
	idle    chan struct{}  // capacity 1; filled when there may be nothing left to wait for
	alarm   alarm
	// describing limits the nodes that describe themselves concurrently.
	describing chan struct{}

	// All by ID.
	status   []*Status // nil for pinned nodes that are served; see statusOf
	phase    []phase
	waiting  []int32
	users    [][]ID // dependents within the closure, once per edge; parts of one array
	expected []float64
	priority []float64

	pools           map[string]*pool
	names           []string // of pools, sorted
	claims          claims
	probes          map[string]*probe
	unanswered      []*probe  // probes that failed, with waiting nodes
	todo            nodeQueue // to be decided
	deciding        int       // running decisions
	recent          int       // number of these that attempts still wait for; see hold
	holds           int       // how often attempts stopped waiting for decisions
	holding         time.Time // time until which attempts wait for decisions; zero if none wait
	open            int       // unresolved nodes of the closure
	running         int       // running attempts
	parked          []ID      // in phase parked
	pollAt          time.Time // when keys of parked nodes are tried again
	pauses          []pause   // before further attempts
	isolatedQueue   []ID      // queued for an isolated attempt
	isolatedRunning bool      // an isolated attempt is running
	stopping        bool
	// unreported contains ended nodes for which Options.Stop has not been called;
	// reporting counts its running calls.
	unreported []*ending
	reporting  int
	fatal      error
	spare      []*decision // for reuse

	// What only few nodes have.
	races       map[ID]int  // decisions repeated because a source changed
	breaks      map[ID]int  // broken attempts
	isolated    map[ID]bool // have or had an isolated attempt
	preemptions map[ID]int  // attempts that were repeated because their machine was taken away
	postponed   map[ID]int  // attempts that lacked an input
	lost        map[ID]bool // to run again in the next pass
	reopened    map[ID]*reopened
	ranForced   map[ID]bool // forced, and has run
	completes   sync.Map    // in a dry run: whether the store has all of an output, by cache.Output
	trees       sync.Map    // how the files of two trees differ, as changes by both digests
}

// phase of a node within one execution.
type phase uint8

const (
	undecided phase = iota
	deciding        // by a worker
	queued          // for a slot of its pool
	running
	parked    // another process has its key
	sleeping  // until its next attempt
	postponed // to the next pass
	reporting // Options.Stop is called for its end
	resolved  // its state and outputs are known
)

// pool limits how many of its nodes run concurrently.
type pool struct {
	size  int
	free  int
	ready nodeQueue // nodes in phase queued
}

func newScheduler(g *Graph, closure []ID, o Options) *scheduler {
	n := g.Len()
	s := &scheduler{
		g: g, o: o, closure: closure,
		status: make([]*Status, n), waiting: make([]int32, n),
		users: make([][]ID, n), expected: make([]float64, n), priority: make([]float64, n),
		phase: make([]phase, n), describing: make(chan struct{}, o.Deciders),
		pools: map[string]*pool{}, claims: claims{}, probes: map[string]*probe{},
		open: len(closure), idle: make(chan struct{}, 1), alarm: newAlarm(),
		races: map[ID]int{}, breaks: map[ID]int{}, preemptions: map[ID]int{}, isolated: map[ID]bool{}, postponed: map[ID]int{},
		lost: map[ID]bool{}, reopened: map[ID]*reopened{}, ranForced: map[ID]bool{},
	}
	s.todo.priority = s.priority
	for name, slots := range o.Pools {
		s.pools[name] = &pool{size: slots, free: slots, ready: nodeQueue{priority: s.priority}}
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	for _, id := range closure {
		if g.Node(id).Pinned == nil || s.forcedReason(id) != "" {
			s.status[id] = new(Status)
		}
	}
	s.connect()
	s.priorities()
	return s
}

// connect fills in the edges.
func (s *scheduler) connect() {
	edges, count := 0, make([]int32, len(s.users))
	for _, id := range s.closure {
		deps := s.g.Node(id).Deps
		s.waiting[id] = int32(len(deps))
		edges += len(deps)
		for i := range deps {
			count[deps[i].On]++
		}
	}
	all := make([]ID, edges)
	for id, n := range count {
		s.users[id], all = all[:0:n], all[n:]
	}
	for _, id := range s.closure {
		deps := s.g.Node(id).Deps
		for i := range deps {
			s.users[deps[i].On] = append(s.users[deps[i].On], id)
		}
	}
}

// run drives the execution to its end and returns when all of its workers have.
func (s *scheduler) run(ctx context.Context) error {
	defer s.alarm.stop()
	if s.o.Backlog != nil {
		s.o.Backlog.begin()
		defer s.o.Backlog.end()
	}
	s.mu.Lock()
	if s.fatal = s.checkPools(); s.fatal != nil {
		s.stopping = true
	}
	s.start()
	s.runPass(ctx)
	for s.reopen(ctx) {
		s.runPass(ctx)
	}
	s.mu.Unlock()
	s.workers.Wait()
	if s.open > 0 && !s.isStopped(ctx) {
		s.fatal = errors.Join(s.fatal, fmt.Errorf("bug in fevalgraph: %d nodes were never decided", s.open))
	}
	s.interruptRest(ctx)
	return s.fatal
}

// runPass returns when no job is running and none will start. The caller holds the lock.
func (s *scheduler) runPass(ctx context.Context) {
	s.spawn(ctx, s.schedule(ctx))
	done := ctx.Done()
	for !s.isFinished(ctx) {
		s.mu.Unlock()
		select {
		case <-s.idle:
		case <-s.alarm.timer.C:
		case <-done:
			done = nil
		}
		s.mu.Lock()
		s.ring()
		s.spawn(ctx, s.schedule(ctx))
	}
}

// start resolves pinned nodes, without decisions, and collects the nodes that
// can be decided first.
func (s *scheduler) start() {
	for _, id := range s.closure {
		switch {
		case s.stopping:
			return
		case s.status[id] == nil:
			s.resolve(id, cache.ClassDone)
		case len(s.g.Node(id).Deps) == 0:
			s.todo.push(id)
		}
	}
}

// statusOf returns the status of a node. A change to that of a pinned node that is served has no effect: see ownStatus.
func (s *scheduler) statusOf(id ID) *Status {
	if st := s.status[id]; st != nil {
		return st
	}
	return s.g.Node(id).pinnedStatus()
}

// ownStatus returns the status of a node, for changes.
func (s *scheduler) ownStatus(id ID) *Status {
	s.status[id] = s.statusOf(id)
	return s.status[id]
}

// isFinished reports whether no job is running and none will start.
func (s *scheduler) isFinished(ctx context.Context) bool {
	return s.open == 0 || s.running+s.deciding+s.reporting == 0 && (s.isStopped(ctx) || len(s.unreported)+len(s.pauses)+len(s.parked) == 0)
}

// isStopped reports whether no further node can start.
func (s *scheduler) isStopped(ctx context.Context) bool { return s.stopping || ctx.Err() != nil }

// checkPools returns an error for a pool that could never run its nodes.
func (s *scheduler) checkPools() error {
	if s.o.DryRun {
		return nil
	}
	for _, id := range s.closure {
		if p := s.poolOf(id); p == nil || p.free < 1 {
			return fmt.Errorf("node %s: its pool %q has no slots", s.g.Node(id).Addr, s.g.Node(id).Pool)
		}
	}
	return nil
}

func (s *scheduler) poolOf(id ID) *pool { return s.pools[s.poolName(s.g.Node(id))] }

// slotsOf returns how many slots of its pool the node takes.
func (s *scheduler) slotsOf(id ID) int { return min(max(s.g.Node(id).Slots, 1), s.poolOf(id).size) }

// poolName returns the name of the pool whose slots the node takes.
func (s *scheduler) poolName(n *Node) string {
	if _, ok := s.pools[n.Pool]; ok && n.Pool != "" {
		return n.Pool
	}
	return CPUPool
}

func (s *scheduler) interruptRest(ctx context.Context) {
	for _, id := range s.closure {
		if s.phase[id] == resolved {
			continue
		}
		st := s.ownStatus(id)
		st.State = event.Interrupted
		if ctx.Err() != nil {
			st.Cause = "the run was interrupted"
		} else {
			st.Cause = "the run stopped at a failure"
		}
		s.announce(id)
	}
}
