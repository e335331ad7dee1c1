package graph

import (
	"context"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// told collects the addresses of nodes that were reported as done.
type told struct{ addrs []string }

func (s *told) Emit(e event.Event) {
	if done, ok := e.(event.NodeDone); ok {
		s.addrs = append(s.addrs, done.Addr)
	}
}

// A pinned answer is used without a decision, a report or a count, and its node runs only if the answer is lost.
func TestGiven(t *testing.T) {
	store := cache.NewMemory()
	known, err := cache.PutBytes(t.Context(), store, []byte("known"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(digest cache.Digest) (result string, given *step, report *Report, sink *told) {
		g := New()
		given = &step{describe: func(*Manifest) error { t.Error("it was described"); return nil },
			work: func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, "again") }}
		if digest != known {
			given.describe = nil
		}
		id := g.Add(Node{Addr: "given", Kind: "step", Task: given, Pinned: &Answer{Outputs: []cache.Output{{Name: "out", Digest: digest}}}})
		top := add(g, "top", join(nil), id)
		sink = &told{}
		report, err := g.Execute(t.Context(), []ID{top}, Options{Store: store, Locker: store, Sink: sink, Pools: map[string]int{CPUPool: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range report.Status(top).Outputs {
			content, err := cache.ReadBlob(t.Context(), store, o.Digest, -1)
			if err != nil {
				t.Fatal(err)
			}
			result = string(content)
		}
		return result, given, report, sink
	}
	result, given, report, sink := run(known)
	if result != "known" || given.ran.Load() != 0 || len(report.Nodes) != 1 || report.Cached != 0 || !slices.Equal(sink.addrs, []string{"top"}) {
		t.Errorf("result %q; the given node ran %d times; %d nodes, %d cached, reported %q", result, given.ran.Load(), len(report.Nodes), report.Cached, sink.addrs)
	}
	if result, given, _, _ = run(cache.SumBytes([]byte("lost"))); result != "again" || given.ran.Load() != 1 {
		t.Errorf("of a lost output came %q; the given node ran %d times", result, given.ran.Load())
	}
}

// A pinned answer can end the execution: no node starts then.
func TestStopAtGiven(t *testing.T) {
	p, g := newProject(t), New()
	known, err := cache.PutBytes(t.Context(), p.store, []byte("known"))
	if err != nil {
		t.Fatal(err)
	}
	given := g.Add(Node{Addr: "given", Kind: "step", Task: join(nil), Pinned: &Answer{Outputs: []cache.Output{{Name: "out", Digest: known}}}})
	late := leaf(new("late"))
	add(g, "late", late)
	o := p.options()
	o.Stop = func(id ID, _ *Status) bool { return id == given }
	r, err := g.Execute(t.Context(), everything(g), o)
	if err != nil || r.Interrupted != 1 || late.ran.Load() != 0 {
		t.Errorf("%d interrupted, %d ran, %v", r.Interrupted, late.ran.Load(), err)
	}
}
