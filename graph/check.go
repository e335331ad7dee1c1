package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// verdict of a check.
type verdict int

const (
	fresh   verdict = iota // an answer is known
	stale                  // the work has to run
	blocked                // a dependency has nothing to offer
	follows                // dry run: a dependency is stale and its outputs unknown
	wrong                  // the inputs cannot be described
)

// checked is the outcome of a check, applied by the scheduler.
type checked struct {
	verdict verdict
	status  Status
	class   cache.Class // of a fresh answer
	record  *cache.Record
	logged  bool // the build log already has this very answer
	err     error
}

// decision is that of check.
func (s *scheduler) decision(ctx context.Context, id ID, forced string, p *phases) checked {
	n := s.g.Node(id)
	if n.Given != nil && forced == "" {
		return checked{verdict: fresh, class: cache.ClassDone, record: &cache.Record{Class: cache.ClassDone, Outputs: n.Given}, logged: true}
	}
	c := checked{status: Status{Expected: s.expected[id]}}
	last, known := s.o.Log.Get(n.Addr)
	c.status.New = !known || last.Key.IsZero()
	c.status.WasBroke = last.Broken

	if culprit := s.culprit(n); culprit != "" && !n.Tolerant {
		c.verdict = blocked
		c.status.Culprit = culprit
		c.status.Cause = "blocked by " + culprit
		return c
	}
	if dep := s.unknownDep(n); dep != nil {
		c.verdict = follows
		c.status.Stale = true
		kind := s.g.Node(dep.On).Kind
		c.status.Category = "follows"
		c.status.Cause = fmt.Sprintf("follows %s; stops here if its output is equal", kind)
		return c
	}

	m := newManifest(n.Kind)
	if err := describe(ctx, n.Task, m); err != nil {
		c.verdict, c.err = wrong, err
		return c
	}
	p.enter(LookUp)
	holes := s.describeDeps(n, m)
	c.status.Key = m.Key()
	c.status.Manifest = m.Bytes()

	switch {
	case forced != "":
		c.status.Cause, c.status.Category = forced, "forced"
	case holes:
		c.status.Cause, c.status.Category = "has dependencies without a result", "holes"
	default:
		served, err := s.serve(ctx, n, &c, last)
		if err != nil {
			c.verdict, c.err = wrong, err
			return c
		}
		if served {
			c.verdict = fresh
			return c
		}
	}
	c.verdict = stale
	c.status.Stale = true
	if c.status.Cause == "" {
		s.explain(ctx, n, &c.status, last)
	}
	return c
}

// describe turns a panic of a task into an error: one bad node must not lose
// the work of the others.
func describe(ctx context.Context, t Task, m *Manifest) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bug in fevalgraph: panic: %v", p)
		}
	}()
	return t.Describe(ctx, m)
}

// serve looks for a stored answer: first the build log, which costs no file,
// then the records that other projects and processes may have left.
func (s *scheduler) serve(ctx context.Context, n *Node, c *checked, last cache.LogEntry) (bool, error) {
	if last.Key == c.status.Key {
		lost, err := perished(ctx, n, last.Class, last.Outputs)
		switch {
		case err != nil:
			return false, err
		case lost != "":
			c.status.Cause, c.status.Category = lost, "lost"
		case !n.Kept || s.present(ctx, last.Outputs):
			c.logged = last.Broken == ""
			c.class = last.Class
			c.record = &cache.Record{Class: last.Class, Outputs: last.Outputs, Message: last.Message,
				Attempts: last.Attempts, Seconds: last.Seconds, Run: last.Run}
			return true, nil
		default:
			c.status.Cause, c.status.Category = "its output is no longer in the store", "lost"
		}
	}
	record, err := s.o.Store.Record(ctx, c.status.Key)
	if err != nil || record == nil || !s.present(ctx, record.Outputs) {
		return false, nil
	}
	lost, err := perished(ctx, n, record.Class, record.Outputs)
	if err != nil || lost != "" {
		return false, err
	}
	c.class, c.record = record.Class, record
	c.status.Cause, c.status.Category = "", ""
	return true, nil
}

// perished says why an answer must not be served although it is known.
func perished(ctx context.Context, n *Node, class cache.Class, outputs []cache.Output) (reason string, err error) {
	task, ok := n.Task.(Perishable)
	if !ok || class == cache.ClassFailed {
		return "", nil
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("bug in fevalgraph: panic: %v", p)
		}
	}()
	return task.Lost(ctx, outputs)
}

func (s *scheduler) present(ctx context.Context, outputs []cache.Output) bool {
	for _, o := range outputs {
		if ok, err := s.o.Store.Has(ctx, o.Digest); err != nil || !ok {
			return false
		}
	}
	return true
}

// culprit returns the root of what keeps n from its inputs, or "".
func (s *scheduler) culprit(n *Node) string {
	for _, d := range n.Deps {
		switch {
		case s.usable(d.On):
		case s.status[d.On].State == event.Blocked:
			return s.status[d.On].Culprit
		default:
			return s.g.Node(d.On).Addr
		}
	}
	return ""
}

// usable reports whether a settled node has outputs to offer, or, in a dry
// run, would have.
func (s *scheduler) usable(id ID) bool {
	st := &s.status[id]
	switch st.State {
	case event.Done, event.Cached, event.Timeout:
		return s.class[id] != cache.ClassFailed
	}
	return s.o.DryRun && st.Stale
}

// unknownDep returns a dependency whose outputs a dry run cannot know.
func (s *scheduler) unknownDep(n *Node) *Dep {
	if !s.o.DryRun {
		return nil
	}
	for i := range n.Deps {
		st := &s.status[n.Deps[i].On]
		if st.Stale && st.Outputs == nil {
			return &n.Deps[i]
		}
	}
	return nil
}

// describeDeps adds the digests of consumed outputs; it reports whether any is
// missing, which only tolerant nodes get to see.
func (s *scheduler) describeDeps(n *Node, m *Manifest) (holes bool) {
	for _, d := range n.Deps {
		st := &s.status[d.On]
		if !s.usable(d.On) {
			holes = true
			m.String(d.As, "no result: "+string(st.State))
			continue
		}
		for _, name := range d.Outputs {
			label := depLabel(d, name)
			if o, ok := st.output(name); ok {
				m.Digest(label, o.Digest)
			} else {
				m.Null(label)
			}
		}
	}
	return holes
}

func depLabel(d Dep, output string) string {
	if len(d.Outputs) == 1 {
		return d.As
	}
	return d.As + " " + output
}

// explain finds out why a node without a stored answer has none: by comparing
// its manifest with that of the last answer for its address.
func (s *scheduler) explain(ctx context.Context, n *Node, st *Status, last cache.LogEntry) {
	switch {
	case last.Broken != "" && last.Key.IsZero():
		st.Cause, st.Category = fmt.Sprintf("last attempt broken (%s)", last.Broken), "broken"
		return
	case last.Key.IsZero():
		st.Cause, st.Category = "never ran", "new"
		return
	case last.Key == st.Key:
		st.Cause, st.Category = "its output is no longer in the store", "lost"
		return
	}
	old, err := s.manifest(ctx, last.Manifest)
	if err != nil {
		st.Cause, st.Category = "its inputs changed (the record of the earlier ones is gone)", "changed"
		return
	}
	now, err := DecodeManifest(st.Manifest)
	if err != nil {
		st.Cause, st.Category = "its inputs changed", "changed"
		return
	}
	changes := Diff(old, now)
	s.traceDeps(n, changes)
	st.Cause, st.Category = s.summarise(n, changes)
	st.Changes = s.expand(changes)
	if last.Broken != "" {
		st.Cause += fmt.Sprintf("; last attempt broken (%s)", last.Broken)
	}
}

func (s *scheduler) manifest(ctx context.Context, d cache.Digest) ([]Field, error) {
	const maxManifest = 256 << 20
	b, err := cache.ReadBlob(ctx, s.o.Store, d, maxManifest)
	if err != nil {
		return nil, err
	}
	return DecodeManifest(b)
}

// traceDeps notes which dependency a changed field came from.
func (s *scheduler) traceDeps(n *Node, changes []event.Change) {
	for _, d := range n.Deps {
		for _, name := range d.Outputs {
			label := depLabel(d, name)
			for i := range changes {
				if changes[i].Field == label {
					changes[i].Via = s.g.Node(d.On).Addr
				}
			}
		}
	}
}

// expand follows every changed dependency by what changed in it, so that a
// node's explanation reaches down to the files.
func (s *scheduler) expand(changes []event.Change) []event.Change {
	const maxPerDep, maxInAll = 50, 500
	var all []event.Change
	room := maxInAll
	seen := map[string]bool{}
	for _, c := range changes {
		all = append(all, c)
		id, ok := s.g.Lookup(c.Via)
		if !ok || seen[c.Via] || !s.status[id].Stale {
			continue
		}
		seen[c.Via] = true
		below := s.status[id].Changes
		below = below[:min(len(below), maxPerDep, room)]
		room -= len(below)
		for _, b := range below {
			if b.Via == "" {
				b.Via = c.Via
			}
			all = append(all, b)
		}
	}
	return all
}

// summarise puts the changes in one line. A changed dependency is told once,
// however many of its outputs changed, and by its own cause, so that the line
// names the file or field at the root of it.
func (s *scheduler) summarise(n *Node, changes []event.Change) (cause, category string) {
	const maxNamed = 2
	if len(changes) == 0 {
		return "its inputs changed in a way that its manifest does not show", "changed"
	}
	var parts []string
	told := map[string]bool{}
	for _, c := range changes {
		if c.Via != "" && told[c.Via] {
			continue
		}
		told[c.Via] = true
		parts = append(parts, s.changeWithRoot(n, c))
	}
	if more := len(parts) - maxNamed; more > 1 {
		parts = append(parts[:maxNamed], fmt.Sprintf("and %d more", more))
	}
	category, _, _ = strings.Cut(changes[0].Field, " ")
	return strings.Join(parts, ", "), category
}

// maxRoot bounds the cause of a dependency that a cause repeats, in bytes.
// Without a bound, causes would grow with every node of a chain and double
// with every diamond.
const maxRoot = 300

func (s *scheduler) changeWithRoot(n *Node, c event.Change) string {
	if c.Via == "" {
		return changeText(c)
	}
	id, _ := s.g.Lookup(c.Via)
	name := s.depName(n, id)
	if root := s.status[id].Cause; root != "" && s.status[id].Stale && len(root) <= maxRoot {
		return name + ": " + root
	}
	return name + " changed"
}

// depName is what n calls its dependency.
func (s *scheduler) depName(n *Node, on ID) string {
	for _, d := range n.Deps {
		if d.On == on {
			return d.As
		}
	}
	return s.g.Node(on).Addr
}

// IsInput tells mistakes in what the user named from faults of the machine.
func IsInput(err error) bool {
	var input *InputError
	return errors.As(err, &input)
}

// isAbsent tells what the machine lacks from what broke on it.
func isAbsent(err error) bool {
	var absent *AbsentError
	return errors.As(err, &absent)
}
