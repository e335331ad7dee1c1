package graph

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// forced returns why a node must run whatever the store says, or "".
func (s *scheduler) forced(id ID) string {
	switch {
	case s.again[id].forced:
		return "its output is no longer in the store"
	case s.asked(id):
		return "forced"
	}
	return ""
}

// asked reports whether a person wants a node's work done that has not been
// done yet in this execution.
func (s *scheduler) asked(id ID) bool {
	return s.o.Force != nil && !s.ran[id] && s.o.Force(s.g.Node(id))
}

// apply acts on the outcome of a check.
func (s *scheduler) apply(ctx context.Context, id ID, c checked) {
	n := s.g.Node(id)
	attempts := s.status[id].Attempts
	s.status[id] = c.status
	st := &s.status[id]
	st.Attempts = attempts
	switch c.verdict {
	case fresh:
		st.State, st.Outputs, st.Message = event.Cached, c.record.Outputs, c.record.Message
		st.Cause, st.Saved = cachedCause(c.record), c.record.Seconds
		if !s.o.DryRun {
			if !c.logged {
				s.remember(id, c.record, s.keepManifest(ctx, st.Manifest))
			}
			st.Manifest = nil // a million of them would be most of the memory
		}
		s.settle(id, c.class)
	case blocked:
		st.State = event.Blocked
		s.settle(id, "")
	case wrong:
		switch {
		case ctx.Err() != nil: // the end of the run is nobody's fault
		case s.raced(id, c.err):
			s.reconsider(id)
		default:
			s.fail(id, c.err)
		}
	case follows, stale:
		s.o.Sink.Emit(event.NodeQueued{Type: "node.queued", Addr: n.Addr, Kind: n.Kind,
			Key: keyText(st.Key), Cause: st.Cause, Changes: st.Changes})
		if !s.o.DryRun {
			s.enqueue(id)
			return
		}
		if c.verdict == stale {
			s.predict(id)
		}
		s.settle(id, "")
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

// fail settles a node that could not be described or whose attempt broke for
// good. Mistakes in the inputs are the user's, what needs a device that is not
// here is skipped, everything else is broken.
func (s *scheduler) fail(id ID, err error) {
	st := &s.status[id]
	st.Message = err.Error()
	if IsInput(err) {
		st.State, st.Input = event.Failed, true
		if st.Cause == "" {
			st.Cause = "its inputs cannot be read"
		}
		s.settle(id, cache.ClassFailed)
		return
	}
	if isAbsent(err) {
		st.State = event.Skipped
		s.settle(id, "")
		return
	}
	st.State = event.Broken
	if !s.o.DryRun {
		s.noteBroken(id, err)
	}
	s.settle(id, "")
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

// keepManifest stores a manifest, which only explanations need.
func (s *scheduler) keepManifest(ctx context.Context, manifest []byte) cache.Digest {
	kept, err := cache.PutBytes(context.WithoutCancel(ctx), s.o.Store, manifest)
	if err != nil {
		return cache.SumBytes(manifest)
	}
	return kept
}

// remember makes r the logged answer for the node, also when the run is being
// stopped: work that is finished is kept.
func (s *scheduler) remember(id ID, r *cache.Record, manifest cache.Digest) {
	st, n := &s.status[id], s.g.Node(id)
	err := s.o.Log.Append(cache.LogEntry{Addr: n.Addr, Key: st.Key, Manifest: manifest, Class: r.Class,
		Outputs: r.Outputs, Message: r.Message, Attempts: r.Attempts, Seconds: r.Seconds, Run: r.Run})
	if err != nil {
		s.fatal = errors.Join(s.fatal, fmt.Errorf("writing the build log: %w", err))
	}
	st.Manifest = nil
}
