package graph

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
)

// The bounds here are far above what is measured: they catch what grows with
// the square of the graph, not a slow machine.

var manyNodes = longtest.Size(20_000, 100_000)

// knowAnswer makes the last answer of a node one with these fields in its manifest
// and "x" for its output.
func knowAnswer(p *project, addr string, fields func(m *Manifest)) {
	m := newManifest("step", nil)
	fields(m)
	p.last[addr] = Last{Answer: Answer{Key: m.Key(), Class: cache.ClassDone, Outputs: []cache.Output{{Name: "out", Digest: cache.SumBytes([]byte("x"))}}}, Store: p.store.ID()}
}

func TestDeepFreshChain(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	last := add(g, "n0", leaf(&value))
	knowAnswer(p, "n0", func(m *Manifest) { m.String("value", value) })
	for i := 1; i < manyNodes; i++ {
		addr, on := fmt.Sprint("n", i), g.Node(last).Addr
		last = add(g, addr, join(nil), last)
		knowAnswer(p, addr, func(m *Manifest) {
			m.String("addr", addr)
			m.Digest(on, cache.SumBytes([]byte("x")))
		})
	}
	started := time.Now()
	r := p.execute(g)
	if took := time.Since(started); took > 5*time.Minute || r.Cached != manyNodes {
		t.Errorf("took %v, %d cached", took, r.Cached)
	}
}

func TestDeepChain(t *testing.T) {
	p := newProject(t)
	g, value, n := New(), "x", manyNodes/5
	last := add(g, "n0", leaf(&value))
	for i := 1; i < n; i++ {
		last = add(g, fmt.Sprint("n", i), join(nil), last)
	}
	started := time.Now()
	for _, value = range []string{"x", "y"} {
		if r := p.execute(g); r.Executed != n || len(r.Status(last).Cause) > 1500 {
			t.Errorf("%d executed; cause of %d bytes", r.Executed, len(r.Status(last).Cause))
		}
	}
	if took := time.Since(started); took > 5*time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestManyFreshNodes(t *testing.T) {
	p := newProject(t)
	g, value := New(), "x"
	for i := range manyNodes {
		addr := fmt.Sprint("n", i)
		describe := func(m *Manifest) { m.Int("number", int64(i)); m.String("value", value) }
		s := leaf(&value)
		s.describe = func(m *Manifest) error { describe(m); return nil }
		add(g, addr, s)
		knowAnswer(p, addr, describe)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // again for nodes that the first one finalised
	runtime.ReadMemStats(&before)
	started := time.Now()
	r, err := g.Execute(t.Context(), everything(g), p.options())
	took := time.Since(started)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if err != nil || r.Cached != manyNodes {
		t.Fatalf("%d of %d cached, %v", r.Cached, manyNodes, err)
	}
	perNode := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / int64(manyNodes)
	t.Logf("%d fresh nodes: %v, %d bytes each", manyNodes, took, perNode)
	if took > 5*time.Minute || perNode > 2048 {
		t.Errorf("%d fresh nodes took %v and %d bytes each", manyNodes, took, perNode)
	}
	runtime.KeepAlive(r)
}

// TestWideNode: a node with very many dependencies finds each of them at once.
func TestWideNode(t *testing.T) {
	p := newProject(t)
	g, value, n := New(), "x", manyNodes/20
	ids := make([]ID, n)
	for i := range n {
		s := leaf(&value)
		s.describe = func(m *Manifest) error { m.Int("number", int64(i)); m.String("value", value); return nil }
		ids[i] = add(g, fmt.Sprint(i), s)
	}
	g.Add(Node{Addr: "sum", Kind: "sum", Task: join(func(string) string { return "sum" }), Deps: on(g, ids...)})
	started := time.Now()
	p.execute(g)
	value = "y"
	r := p.execute(g)
	if took := time.Since(started); took > 5*time.Minute || r.Executed != n+1 {
		t.Errorf("took %v, executed %d", took, r.Executed)
	}
	if c := r.Status(ID(n)); len(c.Cause) > 1500 || len(c.Changes) > n+600 {
		t.Errorf("cause of %d bytes, %d changes", len(c.Cause), len(c.Changes))
	}
}
