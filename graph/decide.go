package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"unique"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// verdict is the result of a decision.
type verdict int

const (
	fresh   verdict = iota // an answer is known
	stale                  // the work has to run
	blocked                // a dependency has no outputs
	follows                // dry run: a dependency is stale and its outputs unknown
	wrong                  // the inputs cannot be described
)

// decision is a job that determines whether a node is fresh. The scheduler fills in the question, and run
// the answer.
type decision struct {
	id       ID
	n        *Node
	forced   string  // why the node must run regardless of the store, or ""
	inputs   []input // snapshot of its dependencies
	expected float64
	holds    int // scheduler.holds when the decision began

	verdict verdict
	status  Status              // its Manifest is in buf
	buf     []byte              // reused
	record  cache.Record        // of a fresh answer
	foreign *cache.ForeignError // of a record in the store that is not to be trusted
	err     error               // why the inputs are wrong
	raced   bool                // a source changed while it was read
	lost    []ID                // dry run: dependencies of a stale node whose outputs are gone
}

// largestSpare limits the size of a manifest buffer that is reused by the next decision, in bytes.
const largestSpare = 64 << 10

// newDecision begins to decide about a node whose dependencies are resolved.
func (s *scheduler) newDecision(id ID) *decision {
	d := &decision{}
	if last := len(s.spare) - 1; last >= 0 {
		d, s.spare = s.spare[last], s.spare[:last]
	}
	n := s.g.Node(id)
	*d = decision{id: id, n: n, buf: d.buf, forced: s.forcedReason(id), inputs: s.inputs(d.inputs[:0], n), expected: s.expected[id], holds: s.holds}
	s.phase[id] = deciding
	s.deciding++
	s.recent++
	return d
}

// forcedReason returns why a node must run regardless of the store, or "".
func (s *scheduler) forcedReason(id ID) string {
	switch {
	case s.reopened[id] != nil && s.reopened[id].forced:
		return causeLost
	case s.isForcedByCaller(id):
		return "forced"
	}
	return ""
}

// isForcedByCaller reports whether Options.Force requires work that this execution has not done yet.
func (s *scheduler) isForcedByCaller(id ID) bool {
	return s.o.Force != nil && !s.ranForced[id] && s.o.Force(s.g.Node(id))
}

// run implements job.
func (d *decision) run(ctx context.Context, s *scheduler) {
	s.check(ctx, d)
	switch {
	case s.o.DryRun:
		if d.verdict == stale || d.verdict == follows {
			d.lost = s.lostInputs(ctx, d)
		}
		if d.verdict == stale {
			d.predictOutputs()
			if s.o.Pretend && d.status.Outputs == nil {
				d.status.Outputs = s.pretendOutputs(d)
			}
		}
	case d.verdict == wrong && ctx.Err() == nil:
		d.raced = s.sourceRaced(d.id, d.err)
	}
}

// pretendOutputs returns a pretended output of a node for each output that dependents consume.
func (s *scheduler) pretendOutputs(d *decision) (outputs []cache.Output) {
	for _, user := range s.users[d.id] {
		deps := s.g.Node(user).Deps
		for i := range deps {
			if deps[i].On != d.id {
				continue
			}
			for _, name := range deps[i].Outputs {
				if !slices.ContainsFunc(outputs, func(o cache.Output) bool { return o.Name == name }) {
					outputs = append(outputs, cache.Output{Name: name, Digest: cache.SumBytes(fmt.Appendf(nil, "%s of %s", name, d.status.Key))})
				}
			}
		}
	}
	if outputs == nil {
		outputs = []cache.Output{} // known to be none
	}
	return outputs
}

// predictOutputs fills in the outputs that a task can predict in a dry run. Otherwise they are unknown.
func (d *decision) predictOutputs() {
	p, ok := d.n.Task.(Predictor)
	if !ok {
		return
	}
	if outputs, err := predict(p); err == nil {
		d.status.Outputs = outputs
	}
}

// apply implements job. The result is dropped if the run was interrupted.
func (d *decision) apply(ctx context.Context, s *scheduler) {
	s.deciding--
	s.endProbes(d)
	if d.holds == s.holds {
		s.recent--
	}
	if ctx.Err() != nil && d.verdict != fresh && d.verdict != blocked {
		s.phase[d.id] = undecided
	} else {
		s.applyAnswer(d)
	}
	clear(d.inputs)
	if cap(d.buf) > largestSpare {
		d.buf = nil
	}
	s.spare = append(s.spare, d)
}

func (s *scheduler) applyAnswer(d *decision) {
	st := s.statusOf(d.id)
	attempts := st.Attempts
	*st = d.status
	st.Attempts = attempts
	st.Manifest = nil // for a million nodes, they would take most of the memory
	if s.keepsManifest(d) {
		st.Manifest = bytes.Clone(d.status.Manifest)
	}
	switch d.verdict {
	case fresh:
		forget(d.n)
		st.State, st.Outputs, st.Message = event.Cached, d.record.Outputs, d.record.Message
		st.Cause, st.Saved, st.Run, st.Stored = cachedCause(d.record.Run), d.record.Seconds, d.record.Run, true
		s.resolve(d.id, d.record.Class)
	case blocked:
		st.State = event.Blocked
		s.resolve(d.id, "")
	case wrong:
		if d.raced {
			s.reconsider(d.id)
		} else {
			s.fail(d.id, d.err)
		}
	case follows, stale:
		if err := s.refused(d.n); err != nil {
			st.Withheld = true
			s.fail(d.id, err)
			return
		}
		changes, omitted := event.Bounded(st.Changes)
		s.o.Sink.Emit(event.NodeQueued{Type: "node.queued", Addr: d.n.Addr, Kind: d.n.Kind,
			Key: keyText(st.Key), Cause: st.Cause, Category: st.Category, Changes: changes, Omitted: omitted})
		if s.o.DryRun {
			s.resolve(d.id, "")
			s.addLost(d.lost)
		} else {
			s.enqueue(d.id)
		}
	}
}

// keepsManifest reports whether an attempt, or a caller, reads the manifest of a decided node.
func (s *scheduler) keepsManifest(d *decision) bool {
	if s.o.DryRun {
		return s.o.Manifests
	}
	return d.verdict == stale
}

func (s *scheduler) refused(n *Node) error {
	if s.o.Refuse == nil {
		return nil
	}
	return s.o.Refuse(n)
}

func forget(n *Node) {
	if f, ok := n.Task.(Forgetter); ok {
		f.Forget()
	}
}

func cachedCause(run string) string {
	if run == "" {
		return "inputs unchanged"
	}
	return intern("inputs unchanged since run " + run)
}

// intern returns an equal string that all nodes share.
func intern(text string) string { return unique.Make(text).Value() }

// fail resolves a node that could not be described or that has no attempts left. Errors in inputs and of
// the work itself make it failed, an absent device skipped, an input that must not be queried unknown, and
// any other error broken.
func (s *scheduler) fail(id ID, err error) {
	st := s.statusOf(id)
	st.Message = err.Error()
	var faulty Faulty
	if errors.As(err, &faulty) {
		st.Fault = faulty.Fault()
	}
	switch {
	case IsInput(err):
		st.State, st.Input = event.Failed, true
		if st.Cause == "" {
			st.Cause = "its inputs cannot be read"
		}
		s.resolve(id, cache.ClassFailed)
	case isFailed(err):
		st.State = event.Failed
		s.resolve(id, cache.ClassFailed)
	case isAbsent(err):
		st.State = event.Skipped
		s.resolve(id, "")
	case isUnknown(err):
		st.State, st.Unknown = event.Blocked, true
		s.resolve(id, "")
	default:
		st.State = event.Broken
		s.resolve(id, "")
	}
}

// sourceRaced reports whether a source changed while it was read and the node should be decided again. The
// content that was read is not stored.
func (s *scheduler) sourceRaced(id ID, err error) bool {
	var changed *cache.ChangedError
	if !errors.As(err, &changed) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.races[id] >= sourceRaceAttempts {
		return false
	}
	s.races[id]++
	return true
}
