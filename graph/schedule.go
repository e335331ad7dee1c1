package graph

import (
	"context"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// job is work for a worker: a decision or an attempt. It contains all data that run needs from the
// scheduler, so that run needs no lock.
type job interface {
	run(ctx context.Context, s *scheduler)
	apply(ctx context.Context, s *scheduler) // under the scheduler's lock
}

// spawn starts a worker with its first job, unless that is nil.
func (s *scheduler) spawn(ctx context.Context, j job) {
	if j != nil {
		s.workers.Go(func() { s.runJobs(ctx, j) })
	}
}

// runJobs runs jobs, one after the other, until none is left for it. So a slot stays with its goroutine:
// waking another one for each attempt would take processor time from the programs that attempts run.
func (s *scheduler) runJobs(ctx context.Context, j job) {
	for j != nil {
		j.run(ctx, s)
		j = s.finish(ctx, j)
	}
}

// finish applies the result of a job and returns the worker's next one.
func (s *scheduler) finish(ctx context.Context, j job) job {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.apply(ctx, s)
	return s.schedule(ctx)
}

// schedule starts all jobs for which nodes, deciders and slots are available. It returns the first of them
// for the caller to run; the others get separate workers.
func (s *scheduler) schedule(ctx context.Context) (first job) {
	start := func(j job) {
		if first == nil {
			first = j
		} else {
			s.spawn(ctx, j)
		}
	}
	if !s.isStopped(ctx) {
		s.reportEnds(start)
		s.startDecisions(start)
		if s.reporting == 0 && (s.recent == 0 || !s.hold()) {
			s.startAttempts(start)
		}
	} else {
		s.finalizeAll()
		if s.o.Backlog != nil {
			s.o.Backlog.end()
		}
	}
	if s.isFinished(ctx) {
		select {
		case s.idle <- struct{}{}:
		default: // run has not read the last one yet
		}
	}
	return first
}

// ending calls Options.Stop for a node that ended. Until it returns, no attempt starts and no
// dependent is decided.
type ending struct {
	id     ID
	class  cache.Class
	status Status
	stop   bool
}

// run implements job.
func (e *ending) run(_ context.Context, s *scheduler) { e.stop = s.o.Stop(e.id, &e.status) }

// apply implements job.
func (e *ending) apply(_ context.Context, s *scheduler) {
	s.reporting--
	s.stopping = s.stopping || e.stop
	s.finalize(e.id, e.class)
}

// finalizeAll finalizes the nodes for which Options.Stop was not called, as the run ends anyway.
func (s *scheduler) finalizeAll() {
	for _, e := range s.unreported {
		s.finalize(e.id, e.class)
	}
	s.unreported = nil
}

// reportEnds starts jobs for nodes that ended, as many at once as decisions.
func (s *scheduler) reportEnds(start func(job)) {
	for s.reporting < s.o.Lookups && len(s.unreported) > 0 {
		e := s.unreported[0]
		s.unreported = s.unreported[1:]
		s.reporting++
		start(e)
	}
}

// startDecisions takes nodes that wait for no dependency, longest chain first.
func (s *scheduler) startDecisions(start func(job)) {
	for s.deciding < s.o.Lookups {
		id, ok := s.nextUndecided()
		if !ok {
			return
		}
		if s.beginProbes(id) {
			start(s.newDecision(id))
		}
	}
}

// startAttempts starts queued nodes while their pools have slots and their exclusive resources are free.
func (s *scheduler) startAttempts(start func(job)) {
	if s.startIsolated(start) {
		return
	}
	for _, name := range s.names {
		p := s.pools[name]
		for p.free > 0 && len(p.ready.ids) > 0 {
			id := p.ready.pop()
			slots := s.slotsOf(id)
			if slots > p.free { // so that no other node takes them first
				p.ready.push(id)
				break
			}
			if s.claim(id) {
				p.free -= slots
				start(s.newAttempt(id))
			}
		}
	}
}

// hold reports whether attempts must wait for running decisions, which can queue nodes of higher priority.
// They wait for at most maxHold: a decision that takes longer is slow, and no attempt waits for it again.
func (s *scheduler) hold() bool {
	for _, name := range s.names {
		if p := s.pools[name]; p.free > 0 && len(p.ready.ids) > 0 {
			if s.holding.IsZero() {
				s.holding = s.alarm.setAfter(maxHold)
			}
			return true
		}
	}
	return false
}

// reconsider makes a node undecided; it is decided when its dependencies are resolved.
func (s *scheduler) reconsider(id ID) {
	s.phase[id] = undecided
	s.waiting[id] = s.countUnresolved(id)
	if s.waiting[id] == 0 {
		s.todo.push(id)
	}
}

// countUnresolved counts the edges of a node to unresolved dependencies.
func (s *scheduler) countUnresolved(id ID) int32 {
	n := int32(0)
	for _, d := range s.g.Node(id).Deps {
		if s.phase[d.On] != resolved {
			n++
		}
	}
	return n
}

func (s *scheduler) enqueue(id ID) {
	s.phase[id] = queued
	s.countQueued(id, 1)
	s.poolOf(id).ready.push(id)
}

// resolve fixes a node's status for this execution. Its dependents are updated immediately, or after
// Options.Stop has returned.
func (s *scheduler) resolve(id ID, class cache.Class) {
	s.announce(id)
	if s.o.Stop == nil {
		s.finalize(id, class)
		return
	}
	s.phase[id] = reporting
	s.unreported = append(s.unreported, &ending{id: id, class: class, status: *s.statusOf(id)})
}

// finalize updates the dependents of a resolved node.
func (s *scheduler) finalize(id ID, class cache.Class) {
	if st := s.status[id]; st != nil {
		st.Class = class
	}
	s.phase[id] = resolved
	s.open--
	for _, user := range s.users[id] {
		if s.phase[user] != undecided {
			continue
		}
		if s.waiting[user]--; s.waiting[user] == 0 {
			s.todo.push(user)
		}
	}
}

// LogOutput is the name of the output with the log of a node's work.
const LogOutput = "log"

func (s *scheduler) announce(id ID) {
	st, n := s.status[id], s.g.Node(id)
	if n.Pinned != nil || st.State == "" {
		return // nothing was decided, or a dry run
	}
	e := doneEvent(n.Addr, n.Kind, st)
	if !st.isServable() && len(n.Deps) <= mostNeeds {
		for _, dep := range n.Deps {
			e.Needs = append(e.Needs, s.g.Node(dep.On).Addr)
		}
	}
	s.o.Sink.Emit(e)
}

// mostNeeds limits the dependencies in an event. A score has several for each case.
const mostNeeds = 64

func doneEvent(addr, kind string, st *Status) event.NodeDone {
	changes, omitted := event.Bounded(st.Changes)
	e := event.NodeDone{Type: "node.done", Addr: addr, Kind: kind, State: st.State, Key: keyText(st.Key),
		Cause: st.Cause, Changes: changes, Omitted: omitted, Seconds: st.Seconds, Attempt: st.Attempts, Message: st.Message, Category: st.Category, Fault: st.Fault}
	if o, ok := st.Output(LogOutput); ok {
		e.Log = o.Digest.String()
	}
	return e
}

func keyText(k cache.Key) string {
	if k.IsZero() {
		return ""
	}
	return k.String()
}
