package graph

import (
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// afterBreak is the reaction to a broken attempt.
type afterBreak uint8

const (
	giveUp      afterBreak = iota // the node is broken, failed or skipped
	interrupt                     // the run was interrupted
	redecide                      // decide again: a source changed while it was read
	postpone                      // an input was missing from the store
	tryAgain                      // the node has attempts left
	tryIsolated                   // other work might have caused it
	preempted                     // the machine was taken away, which does not count as an attempt
)

// maxPreemptions limits how often a node's work is repeated because its machine was taken away.
// If no machine lasts as long as the work, more attempts would only cost more.
const maxPreemptions = 10

// afterBreak determines the reaction to a broken attempt, and saves its log.
func (s *scheduler) afterBreak(ctx context.Context, a *attempt) {
	r := &a.result
	switch {
	case ctx.Err() != nil:
		r.broken = interrupt
		return
	case s.sourceRaced(a.id, r.err):
		r.broken = redecide
		return
	}
	if lost, ok := s.findLost(ctx, a); ok {
		r.broken, r.lost = postpone, lost
		return
	}
	switch {
	case isPreempted(r.err):
		if s.mayLoseMachine(a.id) {
			r.broken = preempted
		}
	case IsInput(r.err), isAbsent(r.err), isFailed(r.err) && !a.n.Retry.Failures:
	case IsCrowded(r.err) && s.mayBeIsolated(a.id):
		r.broken = tryIsolated
	case s.hasAttempts(a):
		r.broken = tryAgain
	}
	if s.o.SaveLog != nil && len(r.log) > 0 {
		s.o.SaveLog(a.n.Addr, a.work.Attempt, r.log)
	}
}

// hasAttempts reports whether a node whose attempt broke has attempts left.
func (s *scheduler) hasAttempts(a *attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.breaks[a.id]+1 < a.n.Retry.Attempts
}

// mayBeIsolated reports whether a node has not had an isolated attempt yet.
func (s *scheduler) mayBeIsolated(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.isolated[id]
}

// mayLoseMachine reports whether to repeat the work of a node whose machine was taken away.
func (s *scheduler) mayLoseMachine(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.preemptions[id] < maxPreemptions
}

// apply implements job.
func (a *attempt) apply(ctx context.Context, s *scheduler) { s.handleResult(a) }

// handleResult releases the resources of an attempt and updates its node.
func (s *scheduler) handleResult(a *attempt) {
	id, r, st := a.id, &a.result, s.statusOf(a.id)
	s.running--
	s.isolatedRunning = false // if it was, this was the attempt
	s.poolOf(id).free += s.slotsOf(id)
	s.release(id)
	for _, text := range r.notes {
		s.o.Sink.Emit(event.NodeNote{Type: "node.note", Addr: a.n.Addr, Kind: a.n.Kind, Text: text})
	}
	switch {
	case r.kind == busy:
		s.park(id)
	case r.kind == answered:
		forget(a.n)
		st.State, st.Outputs, st.Message = event.Cached, r.served.Outputs, r.served.Message
		st.Cause, st.Category, st.Stale, st.Changes, st.Manifest = cachedCause(r.served.Run), "", false, nil, nil
		st.Saved, st.Run, st.Stored = r.served.Seconds, r.served.Run, true
		s.resolve(id, r.served.Class)
	case r.kind == broke:
		s.handleBreak(a)
	default:
		s.succeed(a)
	}
}

func (s *scheduler) succeed(a *attempt) {
	r, st := &a.result, s.statusOf(a.id)
	st.Outputs, st.Message, st.Seconds = slices.Clone(r.outcome.Outputs), r.outcome.Message, r.seconds
	switch r.outcome.Class {
	case cache.ClassFailed:
		st.State = event.Failed
	case cache.ClassTimeout:
		st.State = event.Timeout
	default:
		st.State = event.Done
	}
	if s.o.Force != nil {
		s.ranForced[a.id] = true
	}
	st.Stored, st.Manifest = true, nil // the store has the manifest
	s.resolve(a.id, r.outcome.Class)
	if v := r.outcome.Verdict; v != nil {
		v.Type, v.Addr = "verdict", a.n.Addr
		s.o.Sink.Emit(*v)
	}
}

func (s *scheduler) handleBreak(a *attempt) {
	id, r, st := a.id, &a.result, s.statusOf(a.id)
	st.Seconds = r.seconds
	switch r.broken {
	case interrupt:
		s.phase[id] = undecided
	case redecide:
		s.reconsider(id)
	case postpone:
		s.addLost(r.lost)
		s.phase[id] = postponed
		s.o.Sink.Emit(event.NodeRetry{Type: "node.retry", Addr: a.n.Addr, Kind: a.n.Kind, Attempt: st.Attempts, Reason: firstLine(r.err.Error())})
	case tryAgain:
		s.o.Sink.Emit(event.NodeRetry{Type: "node.retry", Addr: a.n.Addr, Kind: a.n.Kind, Attempt: st.Attempts,
			Reason: firstLine(r.err.Error()), Wait: a.n.Retry.pause(s.breaks[id] + 1).Seconds()})
		s.breaks[id]++
		s.sleep(id)
	case tryIsolated:
		s.o.Sink.Emit(event.NodeNote{Type: "node.note", Addr: a.n.Addr, Kind: a.n.Kind, Text: "retried with no other node of this run next to it: " + firstLine(r.err.Error())})
		s.waitIsolated(id)
	case preempted:
		s.o.Sink.Emit(event.NodeRetry{Type: "node.retry", Addr: a.n.Addr, Kind: a.n.Kind, Attempt: st.Attempts,
			Reason: firstLine(r.err.Error()), Preempted: true})
		s.preemptions[id]++
		st.Attempts-- // the next one has its number
		s.reconsider(id)
	default:
		s.fail(id, r.err)
	}
}
