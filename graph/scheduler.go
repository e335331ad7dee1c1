package graph

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// scheduler owns all state of one execution, which changes only under its lock.
// Whoever reports something, the end of an attempt or of a pause, also does what
// became possible by that: decides, and begins what there are slots for.
//
// Two rules hold whenever nobody has the lock. waiting of an undecided
// node is the number of its edges to nodes that are not settled; when it is 0
// the node is in todo. And no queued, parked or sleeping node has a dependency
// that is not settled: those go back to undecided when one is taken back.
type scheduler struct {
	g       *Graph
	o       Options
	closure []ID

	mu   sync.Mutex
	rest chan struct{} // of capacity 1, filled when nothing may be left to wait for
	over bool          // the execution has returned

	// All by ID.
	status   []Status
	class    []cache.Class // of the answer, once there is one
	phase    []phase
	waiting  []int32
	users    [][]ID // dependents within the closure, once per edge
	expected []float64
	priority []float64

	pools    map[string]*pool
	names    []string // of pools, sorted
	claims   claims
	todo     []ID // to be decided; may hold a node twice
	open     int  // closure nodes not settled
	running  int  // attempts
	parked   []ID // in phase parked, and some that left it
	sleeping int  // pauses that are not over
	stopping bool
	fatal    error

	// What only few nodes have.
	races  map[ID]int  // times described anew because a source changed
	breaks map[ID]int  // broken attempts
	vain   map[ID]int  // heals that found nothing to heal
	again  map[ID]loss // taken back after it was settled
	dirty  map[ID]bool // running with an input that has been replaced since
	ran    map[ID]bool // forced, and has run
}

// phase of a node within one execution.
type phase uint8

const (
	undecided phase = iota
	queued          // for a slot of its pool
	running
	parked   // another worker has its key
	sleeping // until its next attempt
	settled
)

// pool limits how many of its nodes run at once.
type pool struct {
	free  int
	ready readyQueue // nodes in phase queued, and some that left it
}

func newScheduler(g *Graph, closure []ID, o Options) *scheduler {
	n := g.Len()
	s := &scheduler{
		g: g, o: o, closure: closure,
		status: make([]Status, n), class: make([]cache.Class, n), waiting: make([]int32, n),
		users: make([][]ID, n), expected: make([]float64, n), priority: make([]float64, n),
		phase: make([]phase, n),
		pools: map[string]*pool{}, claims: claims{},
		open: len(closure), rest: make(chan struct{}, 1),
		races: map[ID]int{}, breaks: map[ID]int{}, vain: map[ID]int{}, again: map[ID]loss{}, dirty: map[ID]bool{}, ran: map[ID]bool{},
	}
	for name, slots := range o.Pools {
		s.pools[name] = &pool{free: slots, ready: readyQueue{priority: s.priority}}
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	for _, id := range closure {
		for _, d := range g.Node(id).Deps {
			s.users[d.On] = append(s.users[d.On], id)
			s.waiting[id]++
		}
	}
	s.priorities()
	return s
}

// run drives the execution to its end. Decisions about leaves, which read the
// sources, are made side by side first; every other node is decided when its
// last dependency is settled.
func (s *scheduler) run(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.over = true }()
	if s.fatal = s.checkPools(); s.fatal != nil {
		s.stopping = true
	}
	s.checkLeaves(ctx)
	poll := time.NewTicker(s.o.LockPoll)
	defer poll.Stop()
	done := ctx.Done()
	for {
		go s.work(ctx, s.proceed(ctx))
		if s.finished(ctx) {
			break
		}
		s.mu.Unlock()
		polled := false
		select {
		case <-s.rest:
		case <-poll.C:
			polled = true
		case <-done:
			done = nil
		}
		s.mu.Lock()
		if polled {
			s.unpark()
		}
	}
	if s.open > 0 && !s.ended(ctx) {
		s.fatal = errors.Join(s.fatal, fmt.Errorf("bug in fevalgraph: %d nodes were never decided", s.open))
	}
	s.interruptRest(ctx)
	return s.fatal
}

// proceed does what has become possible, and returns an attempt for the caller to
// run; nil is none.
func (s *scheduler) proceed(ctx context.Context) *attempt {
	s.decideAll(ctx)
	a := s.dispatch(ctx)
	if s.finished(ctx) {
		select {
		case s.rest <- struct{}{}:
		default: // it is known already
		}
	}
	return a
}

// finished reports whether nothing runs, and nothing will.
func (s *scheduler) finished(ctx context.Context) bool {
	return s.open == 0 || s.running == 0 && (s.ended(ctx) || s.sleeping == 0 && len(s.parked) == 0)
}

// ended reports whether nothing new may start.
func (s *scheduler) ended(ctx context.Context) bool { return s.stopping || ctx.Err() != nil }

// checkPools refuses a pool that could never run its nodes.
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

func (s *scheduler) checkLeaves(ctx context.Context) {
	var leaves []ID
	for _, id := range s.closure {
		if s.waiting[id] == 0 {
			leaves = append(leaves, id)
		}
	}
	checks := make([]checked, len(leaves))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, id := range leaves {
		if s.ended(ctx) {
			break
		}
		forced := s.forced(id)
		if s.g.Node(id).Given != nil { // thousands of them, of which nothing is read
			checks[i] = s.check(ctx, id, forced)
			continue
		}
		group.Go(func() error {
			checks[i] = s.check(ctx, id, forced)
			return nil
		})
	}
	group.Wait()
	if s.ended(ctx) {
		return
	}
	for i, id := range leaves {
		s.apply(ctx, id, checks[i])
	}
}

// decideAll decides every node that has nothing to wait for. It is a loop and
// not a recursion through settle: chains may be as long as the graph.
func (s *scheduler) decideAll(ctx context.Context) {
	for len(s.todo) > 0 && !s.ended(ctx) {
		id := s.todo[0]
		s.todo = s.todo[1:]
		if s.phase[id] == undecided && s.waiting[id] == 0 {
			s.apply(ctx, id, s.check(ctx, id, s.forced(id)))
		}
	}
}

// reconsider makes a node undecided; it is decided once its dependencies are
// settled.
func (s *scheduler) reconsider(id ID) {
	s.phase[id] = undecided
	s.waiting[id] = s.unsettled(id)
	if s.waiting[id] == 0 {
		s.todo = append(s.todo, id)
	}
}

// unsettled counts the edges of a node to dependencies that are not settled.
func (s *scheduler) unsettled(id ID) int32 {
	n := int32(0)
	for _, d := range s.g.Node(id).Deps {
		if s.phase[d.On] != settled {
			n++
		}
	}
	return n
}

func (s *scheduler) poolOf(id ID) *pool { return s.pools[s.poolName(s.g.Node(id))] }

// poolName is the name of the pool whose slots the node takes.
func (s *scheduler) poolName(n *Node) string {
	if _, ok := s.pools[n.Pool]; ok && n.Pool != "" {
		return n.Pool
	}
	return CPUPool
}

func (s *scheduler) enqueue(id ID) {
	s.phase[id] = queued
	heap.Push(&s.poolOf(id).ready, id)
}

// dispatch begins queued nodes while their pools have slots and nobody has what
// they need for themselves. It returns the first of them for the caller to run;
// the others have goroutines of their own.
func (s *scheduler) dispatch(ctx context.Context) (first *attempt) {
	if s.ended(ctx) {
		return nil
	}
	for _, name := range s.names {
		p := s.pools[name]
		for p.free > 0 && p.ready.Len() > 0 {
			id := heap.Pop(&p.ready).(ID)
			if s.phase[id] != queued || !s.claim(id) {
				continue
			}
			p.free--
			if a := s.begin(id); first == nil {
				first = a
			} else {
				go s.work(ctx, a)
			}
		}
	}
	return first
}

// settle marks a node as decided for this execution and lets its dependents
// know.
func (s *scheduler) settle(id ID, class cache.Class) {
	s.class[id] = class
	s.phase[id] = settled
	s.open--
	s.announce(id)
	if s.o.Stop != nil && s.o.Stop(id, &s.status[id]) {
		s.stopping = true
	}
	for _, user := range s.users[id] {
		if s.phase[user] != undecided {
			continue
		}
		if s.waiting[user]--; s.waiting[user] == 0 {
			s.todo = append(s.todo, user)
		}
	}
	if s.recovered(id) {
		s.revisitUsers(id)
	}
}

func (s *scheduler) announce(id ID) {
	st, n := &s.status[id], s.g.Node(id)
	if st.State == "" || n.Given != nil {
		return // dry run, or nothing that was decided
	}
	e := event.NodeDone{Type: "node.done", Addr: n.Addr, Kind: n.Kind, State: st.State, Key: keyText(st.Key),
		Cause: st.Cause, Changes: st.Changes, Seconds: st.Seconds, Attempt: st.Attempts, Message: st.Message}
	if o, ok := st.output(LogOutput); ok {
		e.Log = o.Digest.String()
	}
	s.o.Sink.Emit(e)
}

// LogOutput is the name of the output that holds what a node's work printed.
const LogOutput = "log"

func (s *scheduler) interruptRest(ctx context.Context) {
	for _, id := range s.closure {
		if s.phase[id] == settled {
			continue
		}
		st := &s.status[id]
		st.State = event.Interrupted
		if ctx.Err() != nil {
			st.Cause = "the run was interrupted"
		} else {
			st.Cause = "the run stopped at a failure"
		}
		s.announce(id)
	}
}

func keyText(k cache.Key) string {
	if k.IsZero() {
		return ""
	}
	return k.String()
}
