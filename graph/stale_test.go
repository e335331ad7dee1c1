package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// line is a graph of three nodes in a row: a leaf, its half before a "#", and a result from that.
type line struct {
	g     *Graph
	value string
	a     *step
	b, c  *step
}

func newLine(value string) *line {
	l := &line{g: New(), value: value}
	l.a = leaf(&l.value)
	l.b = join(func(s string) string { before, _, _ := strings.Cut(s, "#"); return before })
	l.c = join(strings.ToUpper)
	a := add(l.g, "a", l.a)
	add(l.g, "c", l.c, add(l.g, "b", l.b, a))
	return l
}

func (l *line) ran() [3]int32 { return [3]int32{l.a.ran.Load(), l.b.ran.Load(), l.c.ran.Load()} }

func TestNothingRunsTwice(t *testing.T) {
	for name, p := range map[string]*project{"memory": newProject(t), "disk": diskProject(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			l := newLine("x#1")
			wantStates(t, l.g, p.execute(l.g), "a done", "b done", "c done")
			r := p.execute(l.g)
			wantStates(t, l.g, r, "a cached", "b cached", "c cached")
			if got := p.content(r, 2); got != "X" || l.ran() != [3]int32{1, 1, 1} {
				t.Errorf("content %q, ran %v", got, l.ran())
			}
			if cause := r.Status(0).Cause; cause != "inputs unchanged since run run1" {
				t.Errorf("cause is %q", cause)
			}
			if r.Status(0).Manifest != nil {
				t.Error("a fresh node keeps its manifest")
			}

			// Early cutoff: b runs and gives the same, so c does not.
			l.value = "x#2"
			wantStates(t, l.g, p.execute(l.g), "a done", "b done", "c cached")
			// Restored inputs are served from the records.
			l.value = "x#1"
			wantStates(t, l.g, p.execute(l.g), "a cached", "b cached", "c cached")
			l.value = "y#1"
			wantStates(t, l.g, p.execute(l.g), "a done", "b done", "c done")
			if want := [3]int32{3, 3, 2}; l.ran() != want {
				t.Errorf("ran %v, want %v", l.ran(), want)
			}
		})
	}
}

// TestKeyUsesOutputs: dependent nodes do not distinguish two ways to the same output.
func TestKeyUsesOutputs(t *testing.T) {
	p := newProject(t)
	keys := map[cache.Key]bool{}
	for _, salt := range []string{"one", "two"} {
		g, c := New(), join(nil)
		a := add(g, "a", &step{
			describe: func(m *Manifest) error { m.String("salt", salt); return nil },
			work:     func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, "same") },
		})
		add(g, "c", c, a)
		r := p.execute(g)
		keys[r.Status(1).Key] = true
		if r.Status(0).State != "done" {
			t.Errorf("salt %s: a is %s", salt, r.Status(0).State)
		}
	}
	if len(keys) != 1 {
		t.Errorf("the dependent has %d keys", len(keys))
	}
}

// TestConsumedOutputs: an output that is not consumed can change; an added or removed output changes a consumed
// one.
func TestConsumedOutputs(t *testing.T) {
	p := newProject(t)
	g, salt, noise, optional, c := New(), "1", "n", "", join(nil)
	a := add(g, "a", &step{
		describe: func(m *Manifest) error { m.String("salt", salt); return nil },
		work: func(ctx context.Context, w *Work) (Outcome, error) {
			o, err := out(ctx, w, "same")
			for _, more := range []struct{ name, content string }{{"noise", noise}, {"optional", optional}} {
				if more.content != "" {
					d, putErr := cache.PutBytes(ctx, w.Store, []byte(strings.TrimSuffix(more.content, "empty")))
					err = errors.Join(err, putErr)
					o.Outputs = append(o.Outputs, cache.Output{Name: more.name, Digest: d})
				}
			}
			return o, err
		},
	})
	g.Add(Node{Addr: "c", Kind: "step", Task: c, Deps: []Dep{{On: a, As: "a", Outputs: []string{"out", "optional"}}}})
	for _, try := range []struct {
		name string
		do   func()
		c    string
	}{
		{"first", func() {}, "done"},
		{"not consumed", func() { noise = "m" }, "cached"},
		{"appears, empty", func() { optional = "empty" }, "done"},
		{"not empty", func() { optional = "x" }, "done"},
		{"disappears", func() { optional = "" }, "cached"},
	} {
		try.do()
		salt += "+"
		r := p.execute(g)
		if got := r.Status(1).State; string(got) != try.c || r.Status(0).State != "done" {
			t.Errorf("%s: c is %s, want %s", try.name, got, try.c)
		}
	}
}

func TestServedFromAnotherProject(t *testing.T) {
	mine := newProject(t)
	other := &project{t: t, store: mine.store, lock: mine.lock, last: lasts{}}
	l := newLine("x")
	mine.execute(l.g)
	l = newLine("x")
	r := other.execute(l.g)
	wantStates(t, l.g, r, "a cached", "b cached", "c cached")
	if r.Status(2).Cause != "inputs unchanged since run run1" {
		t.Errorf("cause is %q", r.Status(2).Cause)
	}
	if e := other.last["c"]; e.Key.IsZero() || e.Run != "run1" {
		t.Errorf("the answer is not remembered: %+v", e)
	}
	if r, err := other.store.Record(t.Context(), other.last["c"].Key); err != nil || cache.SumBytes(r.Manifest).Hash != other.last["c"].Key {
		t.Errorf("the record of c has not the manifest that its key is the hash of: %+v, %v", r, err)
	}
}

// forgetful is a store that can lose blobs.
type forgetful struct {
	*cache.Memory
	gone map[cache.Digest]bool
}

func (f *forgetful) Has(ctx context.Context, d cache.Digest) (bool, error) {
	if f.gone[d] {
		return false, nil
	}
	return f.Memory.Has(ctx, d)
}

func TestKept(t *testing.T) {
	for _, kept := range []bool{false, true} {
		f := &forgetful{cache.NewMemory(), map[cache.Digest]bool{}}
		p := &project{t: t, store: f, last: lasts{}}
		g, value := New(), "x"
		g.Add(Node{Addr: "a", Kind: "step", Task: leaf(&value), Kept: kept})
		r := p.execute(g)
		o, _ := r.Status(0).Output("out")
		f.gone[o.Digest] = true
		plan := p.options()
		plan.DryRun = true
		st := p.executeWith(t.Context(), g, plan).Status(0)
		if st.Stale != kept {
			t.Errorf("kept %v: stale %v", kept, st.Stale)
		}
		if kept && (st.Cause != "its output is no longer in the store" || st.Category != "lost") {
			t.Errorf("cause %q, category %q", st.Cause, st.Category)
		}
	}
}

func TestForce(t *testing.T) {
	p := newProject(t)
	l := newLine("x#1")
	p.execute(l.g)
	o := p.options()
	o.Force = func(n *Node) bool { return n.Addr == "b" }
	r := p.executeWith(t.Context(), l.g, o)
	wantStates(t, l.g, r, "a cached", "b done", "c cached")
	if st := r.Status(1); st.Cause != "forced" || st.Category != "forced" {
		t.Errorf("cause %q, category %q", st.Cause, st.Category)
	}
}

// TestCauses: the causes that the user reads for a node that has to run.
func TestCauses(t *testing.T) {
	p := newProject(t)
	g, file, timeout := New(), "1", "20s"
	a := add(g, "a", &step{
		describe: func(m *Manifest) error { m.String("file x.py", file); return nil },
		work:     func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, file) },
	})
	b := add(g, "b", &step{
		describe: func(m *Manifest) error { m.String("timeout", timeout); return nil },
		work:     join(nil).work,
	}, a)
	want := func(id ID, r *Report, cause, category string) {
		t.Helper()
		if st := r.Status(id); st.Cause != cause || string(st.Category) != category {
			t.Errorf("%s: cause %q, category %q; want %q, %q", g.Node(id).Addr, st.Cause, st.Category, cause, category)
		}
	}
	r := p.execute(g)
	want(a, r, "never ran", "new")
	if !r.Status(a).New {
		t.Error("a is not new")
	}
	file = "2"
	r = p.execute(g)
	want(a, r, "x.py changed", "file")
	want(b, r, "a: x.py changed", "a")
	timeout = "30s"
	r = p.execute(g)
	want(b, r, "timeout: 20s -> 30s", "timeout")
	file, timeout = "3", "40s"
	want(b, p.execute(g), "timeout: 30s -> 40s, a: x.py changed", "timeout")

	// The manifest of the last answer is gone.
	e := p.last["a"]
	e.Key = cache.Key{1}
	p.last["a"] = e
	file = "4"
	want(a, p.execute(g), "its inputs changed (the record of the earlier ones is gone)", "changed")
}

// TestCausesStayShort: a long chain and a ladder of diamonds repeat the root
// of a change, but not the whole way to it.
func TestCausesStayShort(t *testing.T) {
	p := newProject(t)
	g, value := New(), "1"
	left := add(g, "a", leaf(&value))
	right := left
	for i := range 40 {
		suffix := strings.Repeat("i", i)
		left, right = add(g, "left"+suffix, join(nil), left, right), add(g, "right"+suffix, join(strings.ToUpper), right)
		if i > 0 { // or contents would double, too
			g.Node(left).Task = join(func(s string) string { return s[:1] })
		}
	}
	p.execute(g)
	value = "2"
	r := p.execute(g)
	longest := slices.MaxFunc(r.Nodes, func(a, b ID) int { return len(r.Status(a).Cause) - len(r.Status(b).Cause) })
	if n := len(r.Status(longest).Cause); n > 1500 {
		t.Errorf("a cause has %d bytes", n)
	}
	for _, id := range r.Nodes {
		if n := len(r.Status(id).Changes); n > 600 {
			t.Errorf("%s lists %d changes", g.Node(id).Addr, n)
		}
	}
}

// TestEventsAreBounded: an event grows neither with the number of changed files nor with the length of a field.
func TestEventsAreBounded(t *testing.T) {
	p, g := newProject(t), New()
	text := strings.Repeat("x", 1<<20)
	add(g, "tree", &step{describe: func(m *Manifest) error {
		m.String("run", text)
		for i := range 30_000 {
			m.String(fmt.Sprint("file ", i), text[:64])
		}
		return nil
	}, work: func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, text) }})
	p.execute(g)
	text = strings.Repeat("y", 1<<20)
	sink := &recorder{}
	o := p.options()
	o.Sink = sink
	p.executeWith(t.Context(), g, o)
	for _, e := range sink.events {
		line, err := json.Marshal(e)
		if err != nil || len(line) > 1<<20 {
			t.Errorf("%T of %d bytes, %v", e, len(line), err)
		}
		if done, ok := e.(event.NodeDone); ok && len(done.Changes)+done.Omitted != 30_001 {
			t.Errorf("%d changes, and %d omitted", len(done.Changes), done.Omitted)
		}
	}
}
