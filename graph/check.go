package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// input is the part of a dependency that a decision or an attempt reads, copied while the dependency was
// resolved.
type input struct {
	dep     *Dep
	kind    string         // of the dependency
	outputs []cache.Output // of the dependency, including outputs that are not consumed
	state   event.State
	hole    bool // the dependency has no outputs to consume
	stale   bool
	unknown bool
	culprit string // of a blocked dependency
	cause   string
	changes []event.Change
}

// output returns a consumed output; false if the dependency lacks it.
func (in *input) output(name string) (cache.Output, bool) {
	if slices.Contains(in.dep.Outputs, name) {
		for _, o := range in.outputs {
			if o.Name == name {
				return o, true
			}
		}
	}
	return cache.Output{}, false
}

// inputs appends the node's inputs to buf.
func (s *scheduler) inputs(buf []input, n *Node) []input {
	buf = slices.Grow(buf, len(n.Deps))
	for i := range n.Deps {
		on := n.Deps[i].On
		st := s.statusOf(on)
		buf = append(buf, input{dep: &n.Deps[i], kind: s.g.Node(on).Kind, outputs: st.Outputs, state: st.State, hole: !s.usable(on),
			stale: st.Stale, unknown: st.Unknown, culprit: st.Culprit, cause: st.Cause, changes: st.Changes})
	}
	return buf
}

// usable reports whether a resolved node has outputs to consume or, in a dry run, would have some.
func (s *scheduler) usable(id ID) bool {
	st := s.statusOf(id)
	switch st.State {
	case event.Done, event.Cached, event.Timeout:
		return st.Class != cache.ClassFailed
	}
	return s.o.DryRun && st.Stale
}

// check makes a decision. It does not hold the lock, so it only reads data of the scheduler that does not
// change during an execution.
func (s *scheduler) check(ctx context.Context, d *decision) {
	if d.n.Pinned != nil && d.forced == "" {
		d.verdict = fresh
		d.record = cache.Record{Class: cache.ClassDone, Outputs: d.n.Pinned.Outputs}
		return
	}
	last := s.o.Last(d.n.Addr)
	d.status = Status{Expected: d.expected, New: last.Key.IsZero(), WasBroken: last.Broken != "", WasFailed: last.Failed}
	if s.decidedByInputs(d) {
		return
	}
	m := newManifest(d.n.Kind, d.buf)
	m.rename = s.o.Rename
	s.describing <- struct{}{}
	d.err = describe(ctx, d.n.Task, m)
	<-s.describing
	if d.err != nil {
		d.verdict = wrong
		return
	}
	d.describeInputs(m)
	d.buf = m.Bytes()
	d.status.Key, d.status.Manifest = m.Key(), d.buf
	switch {
	case d.forced != "":
		d.status.Cause, d.status.Category = d.forced, event.CauseForced
		if d.forced == causeLost {
			d.status.Category = event.CauseLost
		}
	default:
		if served, err := s.serve(ctx, d, last); err != nil {
			d.verdict, d.err = wrong, err
			return
		} else if served {
			d.verdict = fresh
			return
		}
	}
	d.verdict, d.status.Stale = stale, true
	if d.status.Cause == "" {
		s.explain(ctx, d, last)
	}
	d.status.Foreign = d.foreign != nil && d.foreign.By == ""
	switch {
	case d.foreign == nil:
	case d.foreign.By != "":
		d.status.Cause += attemptSeparator + fmt.Sprintf("a record by %s exists, not trusted", d.foreign.By)
	default:
		d.status.Cause += attemptSeparator + "a record exists, but it was not written by you"
	}
}

// decidedByInputs decides the nodes that need no description: nodes that cannot run because an input is
// missing and, in a dry run, nodes whose inputs are unknown.
func (s *scheduler) decidedByInputs(d *decision) bool {
	for i := range d.inputs {
		if in := &d.inputs[i]; in.unknown {
			d.verdict, d.status.Unknown = blocked, true
			d.status.Cause = fmt.Sprintf("follows %s, which may be stale", in.kind)
			return true
		}
	}
	for i := range d.inputs {
		if in := &d.inputs[i]; in.hole {
			d.verdict, d.status.Culprit = blocked, in.culprit
			if in.culprit == "" {
				d.status.Culprit = s.g.Node(in.dep.On).Addr
			}
			d.status.Cause = "blocked by " + d.status.Culprit
			return true
		}
	}
	for i := range d.inputs {
		if in := &d.inputs[i]; s.o.DryRun && in.stale && in.outputs == nil {
			d.verdict, d.status.Stale, d.status.Category = follows, true, event.CauseFollows
			d.status.Follows = in.kind
			d.status.Cause = intern("follows " + d.status.Follows + "; stops here if its output is equal")
			return true
		}
	}
	return false
}

// describeInputs adds the digests of consumed outputs.
func (d *decision) describeInputs(m *Manifest) {
	for i := range d.inputs {
		in := &d.inputs[i]
		if Refused(in.outputs) {
			m.Digest(in.dep.As+" "+RefusedOutput, in.outputs[0].Digest)
			continue
		}
		for _, name := range in.dep.Outputs {
			if o, ok := in.output(name); ok {
				m.Digest(in.label(name), o.Digest)
			} else {
				m.Null(in.label(name))
			}
		}
	}
}

// label returns the label of a consumed output in the manifest.
func (in *input) label(output string) string {
	if len(in.dep.Outputs) == 1 {
		return in.dep.As
	}
	return in.dep.As + " " + output
}

// serve looks for a stored answer: first the last one, without reading a file, and then among the records,
// including those of other projects and processes. A last answer from another store does not count, since
// this store can have a different one.
func (s *scheduler) serve(ctx context.Context, d *decision, last Last) (bool, error) {
	if last.Key == d.status.Key && last.Store == s.o.Store.ID() {
		answer := cache.Record{Class: last.Class, Outputs: last.Outputs, Message: last.Message, Seconds: last.Seconds, Run: last.Run}
		reason, err := validate(ctx, d.n, &answer)
		switch {
		case err != nil:
			return false, err
		case reason != "":
			d.status.Cause, d.status.Category = reason, event.CauseLost
		case !d.n.Kept || s.present(ctx, last.Outputs):
			d.record = answer
			return true, nil
		default:
			d.status.Cause, d.status.Category = causeLost, event.CauseLost
		}
	}
	record, foreign, err := s.validRecord(ctx, d.n, d.status.Key)
	d.foreign = foreign
	if err != nil || record == nil {
		return false, err
	}
	d.record = *record
	d.status.Cause, d.status.Category = "", ""
	return true, nil
}

// validRecord returns the record of a key if it can be served, or nil, and a record that must not be
// trusted, if there is one.
func (s *scheduler) validRecord(ctx context.Context, n *Node, k cache.Key) (_ *cache.Record, foreign *cache.ForeignError, _ error) {
	record, err := s.o.Store.Record(ctx, k)
	if err != nil || record == nil || !s.present(ctx, record.Outputs) {
		errors.As(err, &foreign)
		return nil, foreign, nil
	}
	if reason, err := validate(ctx, n, record); err != nil || reason != "" {
		return nil, nil, err
	}
	return record, nil, nil
}

func (s *scheduler) present(ctx context.Context, outputs []cache.Output) bool {
	for _, o := range outputs {
		if ok, err := s.o.Store.Has(ctx, o.Digest); err != nil || !ok {
			return false
		}
	}
	return true
}
