package graph

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
)

// readOnly fails the test if a dry run writes.
type readOnly struct {
	*cache.Memory
	t *testing.T
}

func (r readOnly) Put(context.Context, io.Reader) (cache.Digest, error) {
	r.t.Error("a dry run stored a blob")
	return cache.Digest{}, io.ErrClosedPipe
}

func (r readOnly) PutRecord(context.Context, cache.Key, *cache.Record) error {
	r.t.Error("a dry run stored a record")
	return io.ErrClosedPipe
}

// plan makes a dry run of everything in g; it fails the test if it writes.
func (p *project) plan(g *Graph) *Report {
	p.t.Helper()
	r, err := g.Execute(p.t.Context(), everything(g), Options{Store: readOnly{p.store.(*cache.Memory), p.t}, Last: p.last.of, Preview: Preview{DryRun: true, Manifests: true}})
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func TestDryRunLooksPastWhatItCanPredict(t *testing.T) {
	p := newProject(t)
	g, value, junk := New(), "x#1", "1"
	source := &predicted{value: &value}
	source.step = step{
		describe: func(m *Manifest) error { m.String("value", value); m.String("junk", junk); return nil },
		work:     func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, value) },
	}
	b := join(func(s string) string { before, _, _ := strings.Cut(s, "#"); return before })
	a := add(g, "a", source)
	add(g, "c", join(strings.ToUpper), add(g, "b", b, a))

	r := p.plan(g)
	wantStates(t, g, r, "a stale", "b stale", "c stale")
	if got := r.Status(2); got.Cause != "follows step; stops here if its output is equal" || got.Category != "follows" || !got.Key.IsZero() {
		t.Errorf("c: %+v", got)
	}
	if got := r.Status(1); got.Cause != "never ran" || got.Key.IsZero() || got.Manifest == nil {
		t.Errorf("b: %+v", got)
	}
	if source.ran.Load()+b.ran.Load() != 0 {
		t.Error("a dry run ran something")
	}
	p.execute(g)

	junk = "2" // a has to run, and its output is known to stay
	wantStates(t, g, p.plan(g), "a stale", "b cached", "c cached")
	wantStates(t, g, p.execute(g), "a done", "b cached", "c cached")

	value = "x#2"
	r = p.plan(g)
	wantStates(t, g, r, "a stale", "b stale", "c stale")
	if got := r.Status(1).Cause; got != "a: value: x#1 -> x#2" {
		t.Errorf("cause of b: %q", got)
	}
	if got := r.Status(2).Category; got != "follows" {
		t.Errorf("c: %q", got)
	}
	wantStates(t, g, p.execute(g), "a done", "b done", "c cached")
	wantStates(t, g, p.plan(g), "a cached", "b cached", "c cached")
}

// TestDryRunDoesNotPredictBlindly: the prediction of a task follows from its description; a node that waits for its
// inputs described nothing.
func TestDryRunDoesNotPredictBlindly(t *testing.T) {
	p := newProject(t)
	g, value, wrong := New(), "x", "wrong"
	a := add(g, "a", leaf(&value))
	second := &predicted{value: &wrong}
	second.step.work = join(nil).work
	b := add(g, "b", second, a)
	add(g, "c", join(nil), b)
	r := p.plan(g)
	if r.Status(b).Outputs != nil || r.Status(2).Category != "follows" {
		t.Errorf("b: %+v, c: %+v", r.Status(b), r.Status(2))
	}
}
