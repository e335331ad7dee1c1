package graph

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// step is a Task made of functions that counts how often it ran.
type step struct {
	describe func(m *Manifest) error
	work     func(ctx context.Context, w *Work) (Outcome, error)
	ran      atomic.Int32
}

func (s *step) Describe(_ context.Context, m *Manifest) error {
	if s.describe == nil {
		return nil
	}
	return s.describe(m)
}

func (s *step) Run(ctx context.Context, w *Work) (Outcome, error) {
	s.ran.Add(1)
	return s.work(ctx, w)
}

// predicted is a step whose only output is known beforehand.
type predicted struct {
	step
	value *string
}

func (p *predicted) Predict() ([]cache.Output, error) {
	return []cache.Output{{Name: "out", Digest: cache.SumBytes([]byte(*p.value))}}, nil
}

// out returns the outcome of work whose only output is called "out".
func out(ctx context.Context, w *Work, content string) (Outcome, error) {
	d, err := cache.PutBytes(ctx, w.Store, []byte(content))
	return Outcome{Outputs: []cache.Output{{Name: "out", Digest: d}}}, err
}

// leaf returns a step whose key and output are the value.
func leaf(value *string) *step {
	return &step{
		describe: func(m *Manifest) error { m.String("value", *value); return nil },
		work:     func(ctx context.Context, w *Work) (Outcome, error) { return out(ctx, w, *value) },
	}
}

// join returns a step that concatenates its inputs in order, each transformed by with; nil leaves it unchanged.
func join(with func(string) string) *step {
	return &step{work: func(ctx context.Context, w *Work) (Outcome, error) {
		var all []string
		for _, in := range w.inputs {
			text, err := read(ctx, w, in.dep.As)
			if err != nil {
				return Outcome{}, err
			}
			all = append(all, text)
		}
		text := strings.Join(all, "+")
		if with != nil {
			text = with(text)
		}
		return out(ctx, w, text)
	}}
}

func read(ctx context.Context, w *Work, as string) (string, error) {
	d, ok := w.Input(as, "out")
	if !ok {
		return "", fmt.Errorf("no input %q", as)
	}
	b, err := cache.ReadBlob(ctx, w.Store, d, -1)
	return string(b), err
}

// on returns an edge to the output "out" of each node, called by its address.
func on(g *Graph, ids ...ID) []Dep {
	var deps []Dep
	for _, id := range ids {
		deps = append(deps, Dep{On: id, As: g.Node(id).Addr, Outputs: []string{"out"}})
	}
	return deps
}

// add adds a node of kind "step". A step that describes nothing is described
// by its address: nodes of one kind with equal inputs would share a key.
func add(g *Graph, addr string, t Task, deps ...ID) ID {
	if s, ok := t.(*step); ok && s.describe == nil {
		s.describe = func(m *Manifest) error { m.String("addr", addr); return nil }
	}
	return g.Add(Node{Addr: addr, Kind: "step", Task: t, Deps: on(g, deps...)})
}

// lasts are the last answers of executions, by address.
type lasts map[string]Last

func (l lasts) of(addr string) Last { return l[addr] }

// expect sets the duration of a node's last work.
func (l lasts) expect(addr string, seconds float64) { l[addr] = Last{Answer: Answer{Seconds: seconds}} }

// learn stores the answers of an execution.
func (l lasts) learn(r *Report) {
	for _, id := range r.Nodes {
		if last := r.Last(id); !last.Key.IsZero() || last.Broken != "" {
			l[last.Addr] = last
		}
	}
}

// recorder keeps the events of a run.
type recorder struct{ events []event.Event }

func (r *recorder) Emit(e event.Event) { r.events = append(r.events, e) }

// project is a store for executions, with knowledge from earlier ones.
type project struct {
	t     *testing.T
	store cache.Store
	lock  Locker
	last  lasts
	runs  int
}

func newProject(t *testing.T) *project {
	m := cache.NewMemory()
	return &project{t: t, store: m, lock: m, last: lasts{}}
}

func diskProject(t *testing.T, dir string) *project {
	d, err := cache.OpenDisk(dir, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &project{t: t, store: d, lock: d, last: lasts{}}
}

func (p *project) options() Options {
	p.runs++
	return Options{Store: p.store, Locker: p.lock, Last: p.last.of, Run: fmt.Sprintf("run%d", p.runs), Pools: map[string]int{CPUPool: 4}}
}

// execute brings everything in g up to date.
func (p *project) execute(g *Graph) *Report { return p.executeWith(p.t.Context(), g, p.options()) }

func (p *project) executeWith(ctx context.Context, g *Graph, o Options) *Report {
	p.t.Helper()
	if o.Sink == nil {
		o.Sink = &recorder{}
	}
	r, err := g.Execute(ctx, everything(g), o)
	if err != nil {
		p.t.Fatalf("Execute: %v", err)
	}
	checkCounts(p.t, g, r, o)
	if !o.DryRun {
		p.last.learn(r)
	}
	return r
}

// checkCounts holds every execution to the promise of the closing line.
func checkCounts(t *testing.T, g *Graph, r *Report, o Options) {
	t.Helper()
	if o.DryRun {
		return
	}
	if n := r.Executed + r.Cached + r.Blocked + r.Skipped + r.Interrupted; n != len(r.Nodes) {
		t.Errorf("%d executed + %d cached + %d blocked + %d skipped + %d interrupted is not %d nodes", r.Executed, r.Cached, r.Blocked, r.Skipped, r.Interrupted, len(r.Nodes))
	}
	last := map[string]event.State{}
	for _, e := range o.Sink.(*recorder).events {
		if done, ok := e.(event.NodeDone); ok {
			last[done.Addr] = done.State
		}
	}
	for _, id := range r.Nodes {
		if addr, st := g.Node(id).Addr, r.Status(id); last[addr] != st.State {
			t.Errorf("%s is %s, but its last event is %q", addr, st.State, last[addr])
		}
	}
}

// stopAfter returns a Stop that ends an execution when more than n nodes ended.
func stopAfter(n int) func(ID, *Status) bool {
	var ended atomic.Int64
	return func(ID, *Status) bool { return ended.Add(1) > int64(n) }
}

func everything(g *Graph) []ID {
	ids := make([]ID, g.Len())
	for i := range ids {
		ids[i] = ID(i)
	}
	return ids
}

// states lists "addr state" of every node.
func states(g *Graph, r *Report) []string {
	var all []string
	for _, id := range r.Nodes {
		state := string(r.Status(id).State)
		if state == "" {
			state = "stale"
		}
		all = append(all, g.Node(id).Addr+" "+state)
	}
	return all
}

func wantStates(t *testing.T, g *Graph, r *Report, want ...string) {
	t.Helper()
	if got := states(g, r); !slices.Equal(got, want) {
		t.Errorf("states are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		for _, id := range r.Nodes {
			t.Logf("%s: cause %q, message %q", g.Node(id).Addr, r.Status(id).Cause, r.Status(id).Message)
		}
	}
}

// content reads the output "out" of a node after an execution.
func (p *project) content(r *Report, id ID) string {
	p.t.Helper()
	o, ok := r.Status(id).Output("out")
	if !ok {
		p.t.Fatalf("node %d: missing output", id)
	}
	b, err := cache.ReadBlob(context.Background(), p.store, o.Digest, -1)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}
