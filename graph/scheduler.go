package graph

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// scheduler owns all state of one execution. Its loop is the only goroutine
// that writes it; workers get what they need and send back what came of it.
type scheduler struct {
	g       *Graph
	o       Options
	closure []ID

	// All by ID.
	status   []Status
	class    []cache.Class // of the answer, once there is one
	phase    []phase
	waiting  []int32 // dependencies not settled yet
	users    [][]ID  // dependents within the closure
	expected []float64
	priority []float64

	pools    map[string]*pool
	open     int // closure nodes not settled
	updates  chan update
	quit     chan struct{} // closed when the loop has ended
	running  int
	parked   []ID // wait for another worker that has their key
	sleeping int  // nodes that wait for their next attempt
	races    map[ID]int
	lost     map[ID]loss
	dirty    map[ID]bool // an input changed after the decision
	stopping bool
	fatal    error
}

// phase of a node within one execution.
type phase uint8

const (
	undecided phase = iota
	queued
	running
	settled
)

// pool limits how many of its nodes run at once.
type pool struct {
	free  int
	ready readyQueue
}

func newScheduler(g *Graph, closure []ID, o Options) *scheduler {
	n := g.Len()
	s := &scheduler{
		g: g, o: o, closure: closure,
		status: make([]Status, n), class: make([]cache.Class, n), waiting: make([]int32, n),
		users: make([][]ID, n), expected: make([]float64, n), priority: make([]float64, n),
		phase: make([]phase, n),
		pools: map[string]*pool{},
		open:  len(closure), updates: make(chan update), quit: make(chan struct{}),
		races: map[ID]int{}, lost: map[ID]loss{}, dirty: map[ID]bool{},
	}
	for name, slots := range o.Pools {
		s.pools[name] = &pool{free: slots, ready: readyQueue{priority: s.priority}}
	}
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
	defer close(s.quit)
	s.checkLeaves(ctx)
	poll := time.NewTicker(s.o.LockPoll)
	defer poll.Stop()
	done := ctx.Done()
	for s.open > 0 {
		s.dispatch(ctx)
		idle := s.running == 0
		if idle && (s.stopping || s.sleeping == 0 && len(s.parked) == 0) {
			break // stopping: whatever is left stays undone
		}
		select {
		case u := <-s.updates:
			s.take(ctx, u)
		case <-poll.C:
			s.unpark()
		case <-done:
			done = nil
			s.stopping = true
		}
	}
	s.interruptRest(ctx)
	return s.fatal
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
		if ctx.Err() != nil {
			s.stopping = true
			break
		}
		group.Go(func() error {
			checks[i] = s.check(ctx, id, s.forced(id))
			return nil
		})
	}
	group.Wait()
	if s.stopping {
		return
	}
	for i, id := range leaves {
		s.apply(ctx, id, checks[i])
	}
}

func (s *scheduler) forced(id ID) string {
	if s.lost[id].forced {
		return "its output is no longer in the store"
	}
	if s.o.Force != nil && s.o.Force(s.g.Node(id)) {
		return "forced"
	}
	return ""
}

// decide checks one node and acts on it.
func (s *scheduler) decide(ctx context.Context, id ID) {
	s.apply(ctx, id, s.check(ctx, id, s.forced(id)))
}

func (s *scheduler) apply(ctx context.Context, id ID, c checked) {
	n := s.g.Node(id)
	attempts := s.status[id].Attempts
	s.status[id] = c.status
	st := &s.status[id]
	st.Attempts = attempts
	switch c.verdict {
	case fresh:
		st.State, st.Outputs, st.Message = event.Cached, c.record.Outputs, c.record.Message
		st.Cause = cachedCause(c.record)
		if !c.logged && !s.o.DryRun {
			s.remember(ctx, id, c.record)
		}
		s.settle(ctx, id, c.class)
	case blocked:
		st.State = event.Blocked
		s.settle(ctx, id, "")
	case wrong:
		if s.raced(id, c.err) {
			s.decide(ctx, id)
			return
		}
		s.fail(ctx, id, c.err)
	case follows, stale:
		s.o.Sink.Emit(event.NodeQueued{Type: "node.queued", Addr: n.Addr, Kind: n.Kind,
			Key: keyText(st.Key), Cause: st.Cause, Changes: st.Changes})
		if s.o.DryRun {
			s.predict(id)
			s.settle(ctx, id, "")
			return
		}
		s.phase[id] = queued
		heap.Push(&s.poolOf(id).ready, id)
	}
}

// predict fills in the outputs that a dry run can know without running.
func (s *scheduler) predict(id ID) {
	p, ok := s.g.Node(id).Task.(Predictor)
	if !ok {
		return
	}
	if outputs, err := p.Predict(); err == nil {
		s.status[id].Outputs = outputs
	}
}

func cachedCause(r *cache.Record) string {
	if r.Run == "" {
		return "inputs unchanged"
	}
	return "inputs unchanged since run " + r.Run
}

func (s *scheduler) poolOf(id ID) *pool {
	name := s.g.Node(id).Pool
	if p, ok := s.pools[name]; ok && name != "" {
		return p
	}
	return s.pools[CPUPool]
}

func (s *scheduler) dispatch(ctx context.Context) {
	if s.stopping {
		return
	}
	for _, p := range s.pools {
		for p.free > 0 && p.ready.Len() > 0 {
			id := heap.Pop(&p.ready).(ID)
			if s.dirty[id] {
				delete(s.dirty, id)
				s.decide(ctx, id)
				continue
			}
			p.free--
			s.start(ctx, id)
		}
	}
}

// settle marks a node as decided for this execution and decides its dependents
// once they have nothing else to wait for.
func (s *scheduler) settle(ctx context.Context, id ID, class cache.Class) {
	s.class[id] = class
	s.phase[id] = settled
	s.open--
	s.announce(id)
	if s.o.Stop != nil && s.o.Stop(id, &s.status[id]) {
		s.stopping = true
	}
	changed := s.recovered(id)
	for _, user := range s.users[id] {
		switch {
		case s.waiting[user] > 0:
			s.waiting[user]--
			if s.waiting[user] == 0 && !s.stopping {
				s.decide(ctx, user)
			}
		case changed:
			s.revisit(ctx, user)
		}
	}
}

func (s *scheduler) announce(id ID) {
	st, n := &s.status[id], s.g.Node(id)
	if st.State == "" {
		return // dry run
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

// fail settles a node that could not be described or whose attempt broke for
// good. Mistakes in the inputs are the user's, everything else is broken.
func (s *scheduler) fail(ctx context.Context, id ID, err error) {
	st := &s.status[id]
	st.Message = err.Error()
	if IsInput(err) {
		st.State, st.Input = event.Failed, true
		if st.Cause == "" {
			st.Cause = "its inputs cannot be read"
		}
		s.settle(ctx, id, cache.ClassFailed)
		return
	}
	st.State = event.Broken
	if !s.o.DryRun {
		s.noteBroken(id, err)
	}
	s.settle(ctx, id, "")
}

// noteBroken keeps the last good answer's entry and marks the attempt after
// it, so that plan and explain can say so.
func (s *scheduler) noteBroken(id ID, err error) {
	n := s.g.Node(id)
	last, _ := s.o.Log.Get(n.Addr)
	last.Addr, last.Broken = n.Addr, firstLine(err.Error())
	if err := s.o.Log.Append(last); err != nil {
		s.fatal = errors.Join(s.fatal, fmt.Errorf("writing the build log: %w", err))
	}
}

// remember makes r the logged answer for the node.
func (s *scheduler) remember(ctx context.Context, id ID, r *cache.Record) {
	st, n := &s.status[id], s.g.Node(id)
	manifest, err := cache.PutBytes(ctx, s.o.Store, st.Manifest)
	if err != nil {
		manifest = cache.SumBytes(st.Manifest) // only explanations need it
	}
	err = s.o.Log.Append(cache.LogEntry{Addr: n.Addr, Key: st.Key, Manifest: manifest, Class: r.Class,
		Outputs: r.Outputs, Message: r.Message, Attempts: r.Attempts, Seconds: r.Seconds, Run: r.Run})
	if err != nil {
		s.fatal = errors.Join(s.fatal, fmt.Errorf("writing the build log: %w", err))
	}
	st.Manifest = nil
}

func keyText(k cache.Key) string {
	if k.IsZero() {
		return ""
	}
	return k.String()
}
