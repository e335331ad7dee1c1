package eval

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// part returns a partition that begins with a solution; it is stale without facts.
func part(problem, first string, facts *partition.Facts) partState {
	return partState{Ref: partition.Ref{Problem: problem, First: first}, facts: facts}
}

// opened returns a freshness of partitions of a configuration from the index.
func opened(parts ...partState) *freshness {
	c := &call{options: &options.Options{}, stores: &stores.Stores{Store: cache.NewMemory()}, run: "now"}
	c.Config = &lang.Config{Problems: []*lang.Problem{}}
	return &freshness{call: c, parts: parts, index: new(partition.Index)}
}

func TestFreshnessIsStale(t *testing.T) {
	fresh := new(partition.Facts)
	for name, c := range map[string]struct {
		change func(*freshness)
		stale  bool
	}{
		"all fresh":         {func(*freshness) {}, false},
		"a stale partition": {func(f *freshness) { f.parts[1].facts = nil }, true},
		"a task that no cell needs": {func(f *freshness) {
			f.call.Config.Tasks = []*lang.Task{{Name: "alone"}}
		}, true},
		"an invalid problem": {func(f *freshness) {
			f.call.Config.Problems = []*lang.Problem{{Name: "r", Invalid: diag.List{{Severity: diag.Error}}}}
		}, true},
	} {
		f := opened(part("p", "a", fresh), part("q", "a", fresh))
		if c.change(f); f.isStale() != c.stale {
			t.Errorf("%s: stale is %v", name, f.isStale())
		}
	}
}

func TestFreshnessFindsPartitions(t *testing.T) {
	f := opened(part("p", "b", nil), part("p", "m", nil), part("q", "a", nil))
	for _, c := range []struct {
		problem, solution string
		at                int
		ok                bool
	}{
		{"p", "b", 0, true}, {"p", "c", 0, true}, {"p", "m", 1, true}, {"p", "z", 1, true}, {"q", "z", 2, true},
		{"p", "a", -1, false}, {"o", "a", -1, false}, {"r", "a", 2, false},
	} {
		if at, ok := f.partOf(c.problem, c.solution); ok != c.ok || ok && at != c.at {
			t.Errorf("%s/%s falls into partition %d, %v; want %d, %v", c.problem, c.solution, at, ok, c.at, c.ok)
		}
	}
}

func TestFreshnessWithout(t *testing.T) {
	f := opened(part("p", "a", new(partition.Facts)), part("q", "a", nil), part("r", "a", new(partition.Facts)))
	for _, c := range []struct {
		drop string
		any  bool
		left int
	}{{"q", false, 2}, {"p", true, 1}, {"r", true, 1}} {
		without, err := f.without(t.Context(), func(part *partState) bool { return part.Problem == c.drop })
		if err != nil {
			t.Fatal(err)
		}
		left := 0
		for range without.freshParts() {
			left++
		}
		if any := without != f; any != c.any || left != c.left || any && f.parts[0].facts == nil {
			t.Errorf("without %s: another is %v, and %d are fresh", c.drop, any, left)
		}
	}
}

func TestFreshnessContext(t *testing.T) {
	f := opened()
	f.changed = map[string]bool{"local.other": true, "tests:q": true}
	for name, c := range map[string]struct {
		backend, shared string
		holds           bool
	}{
		"as it was":         {"local.host", "tests:p", true},
		"another backend":   {"local.other", "tests:p", false},
		"other shared data": {"local.host", "tests:q", false},
	} {
		p := part("p", "a", &partition.Facts{Common: []partition.CommonRef{{Addr: c.shared}}, Backends: []string{c.backend}})
		if f.contextHolds(&p) != c.holds {
			t.Errorf("%s: holds is %v", name, !c.holds)
		}
	}
}

// The index keeps the state of shared nodes that fresh partitions rely on: of this run, or the unchanged earlier one.
func TestRememberSharedNodes(t *testing.T) {
	f := opened(part("p", "a", &partition.Facts{Common: []partition.CommonRef{{Addr: "tests:read"}, {Addr: "tests:pinned"}, {Addr: "tests:busy"}, {Addr: "tests:changed"}, {Addr: "tests:reads nothing"}}}))
	for _, addr := range []string{"tests:read", "tests:pinned", "tests:busy", "tests:changed", "tests:unused"} {
		f.index.Shared = append(f.index.Shared, partition.Shared{Addr: addr, Snapshot: []byte("earlier")})
	}
	f.index.Shared = append(f.index.Shared, partition.Shared{Addr: "local.host", Backend: new(partition.Backend)})
	f.changed = map[string]bool{"tests:changed": true}
	x := newExecution((&Project{call: f.call, fresh: f, Plan: &plan.Plan{Graph: graph.New()}}).goalsOf(nil), nil)
	m := &remembering{x: x, next: f, shared: map[string][]byte{"tests:read": []byte("now"), "tests:busy": nil}}
	var got []string
	for _, s := range m.sharedNodes() {
		got = append(got, s.Addr+" "+string(s.Snapshot))
	}
	if want := "tests:busy earlier, tests:pinned earlier, tests:read now"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// row returns a node of the solution a of problem p, which needs some of the rows before it.
func row(addr string, deps ...int32) graph.Row {
	return graph.Row{Addr: addr, Kind: plan.KindAggregate, Deps: deps,
		Labels: []graph.Label{{Name: "problem", Value: "p"}, {Name: "solution", Value: "a"}, {Name: "backend", Value: "local.host"}, {Name: "repeat", Value: "1"}},
		Answer: graph.Answer{Seconds: 2, Outputs: []cache.Output{{Name: "out", Digest: cache.Digest{Size: 5}}}}}
}

// counted returns goals for all nodes of a project with the fresh partition p, of two nodes and an image that
// others have, too.
func counted(expanded bool, build func(*graph.Graph, []graph.Row)) *goals {
	all := []graph.Row{row("image"), row("run:p/a", 0), row("aggregate:p/a", 1)}
	all[0].Labels = nil
	facts := &partition.Facts{Run: "before", Own: 2, Common: []partition.CommonRef{{Addr: "image"}}, Summary: []report.CellRow{{Problem: "p", Solution: "a"}}}
	f := opened(part("p", "a", facts))
	if build == nil {
		p := f.compileNothing()
		return p.goalsOf(nil)
	}
	p := &Project{call: f.call, fresh: f, Plan: &plan.Plan{Config: f.call.Config, Graph: graph.New()}, expanded: expanded}
	build(p.Plan.Graph, all)
	g := p.goalsOf(nil)
	for id := range graph.ID(p.Plan.Graph.Len()) {
		g.targets = append(g.targets, id)
	}
	return g
}

// A partition counts the same nodes however much of it is in the graph.
func TestGoalsCount(t *testing.T) {
	node := func(g *graph.Graph, addr string, deps ...string) {
		n := graph.Node{Addr: addr, Kind: plan.KindRun, Labels: []graph.Label{{Name: "problem", Value: "q"}, {Name: "solution", Value: "a"}, {Name: "backend", Value: "local.host"}, {Name: "repeat", Value: "1"}}}
		for _, d := range deps {
			on, _ := g.Lookup(d)
			n.Deps = append(n.Deps, graph.Dep{On: on, As: d})
		}
		g.Add(n)
	}
	for name, c := range map[string]struct {
		expanded bool
		build    func(*graph.Graph, []graph.Row)
		want     counts
		cells    int
		closed   int // partitions that are announced as one
		pinned   int // nodes that are announced one by one
	}{
		"no compilation": {false, nil, counts{nodes: 3}, 1, 1, 0},
		"closed, without the image": {false, func(g *graph.Graph, _ []graph.Row) {
			node(g, "run:q/a")
		}, counts{nodes: 4, decided: 1}, 2, 1, 0},
		"closed, and a stale partition has the image": {false, func(g *graph.Graph, _ []graph.Row) {
			node(g, "image")
			node(g, "run:q/a", "image")
		}, counts{nodes: 4, decided: 2}, 2, 1, 0},
		"expanded": {true, func(g *graph.Graph, rows []graph.Row) {
			g.AddRows(rows)
			node(g, "run:q/a", "image")
		}, counts{nodes: 4, decided: 1}, 2, 0, 3},
	} {
		g := counted(c.expanded, c.build)
		if got := g.count(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got := g.countCells(); got != c.cells {
			t.Errorf("%s: %d cells, want %d", name, got, c.cells)
		}
		closed, pinned := 0, 0
		for range g.project.closed() {
			closed++
		}
		for _, id := range g.nodes() {
			if g.project.Plan.Graph.Node(id).Pinned != nil {
				pinned++
			}
		}
		if closed != c.closed || pinned != c.pinned {
			t.Errorf("%s: %d partitions are closed, and %d nodes pinned; want %d, %d", name, closed, pinned, c.closed, c.pinned)
		}
	}
}

// Without compilation, a dry run decides no node, and results come from the facts.
func TestExecutionOfNothing(t *testing.T) {
	g := counted(false, nil)
	x, err := g.decide(t.Context(), false)
	if err != nil || len(x.rep.Nodes) > 0 {
		t.Fatalf("%d nodes are decided, %v", len(x.rep.Nodes), err)
	}
	c, err := x.collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if rows := c.rows(); len(rows) != 1 || rows[0].Solution != "a" || x.project.cells() != 1 {
		t.Errorf("%d cells, %+v", x.project.cells(), rows)
	}
}

// taskFunc is the work of a task.
type taskFunc func(context.Context, *graph.Work) (graph.Outcome, error)

func (taskFunc) Describe(context.Context, *graph.Manifest) error { return nil }

func (f taskFunc) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) { return f(ctx, w) }

// An execution refutes partitions whose stored outputs are missing, or whose outputs of a node differ.
func TestExecutionRefutes(t *testing.T) {
	made := cache.SumBytes([]byte("made"))
	now := partition.SumOutputs([]cache.Output{{Name: "out", Digest: made}})
	for name, c := range map[string]struct {
		lost    bool
		before  [32]byte // the outputs of the image that the partition was decided with
		refuted bool
	}{
		"nothing":       {false, now, false},
		"a lost output": {true, now, true},
		"another image": {false, [32]byte{1}, true},
	} {
		f := opened(part("p", "a", &partition.Facts{Common: []partition.CommonRef{{Addr: "image", Outputs: c.before}, {Addr: "not there"}}}))
		store := f.call.stores.Store
		kept, err := cache.PutBytes(t.Context(), store, []byte("kept"))
		if err != nil {
			t.Fatal(err)
		}
		if c.lost {
			kept = cache.SumBytes([]byte("lost"))
		}
		given := row("aggregate:p/a")
		given.Outputs = []cache.Output{{Name: "out", Digest: kept}}
		g := graph.New()
		g.AddRows([]graph.Row{given})
		g.Add(graph.Node{Addr: "image", Kind: "image", Task: taskFunc(func(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
			d, err := cache.PutBytes(ctx, w.Store, []byte("made"))
			return graph.Outcome{Outputs: []cache.Output{{Name: "out", Digest: d}}}, err
		})})
		g.Add(graph.Node{Addr: "reader", Kind: "task", Deps: []graph.Dep{{On: 0, As: "verdict", Outputs: []string{"out"}}},
			Task: taskFunc(func(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
				d, _ := w.Input("verdict", "out")
				_, err := cache.ReadBlob(ctx, w.Store, d, -1)
				return graph.Outcome{}, err
			})})
		targets := []graph.ID{1, 2}
		rep, err := g.Execute(t.Context(), targets, graph.Options{Store: store, Locker: store, Pools: map[string]int{graph.CPUPool: 1}})
		if err != nil {
			t.Fatal(err)
		}
		x := newExecution((&Project{call: f.call, fresh: f, Plan: &plan.Plan{Graph: g}}).goalsOf(targets), rep)
		if x.refutes()(&f.parts[0]) != c.refuted {
			t.Errorf("%s: refuted is %v; the verdict is %s, the image %s", name, !c.refuted, rep.Status(0).State, rep.Status(1).State)
		}
		if rep.Status(1).State != event.Done {
			t.Errorf("%s: the image is %s", name, rep.Status(1).State)
		}
	}
}

// The results contain the goals' part of an expanded partition, and all of a closed one.
func TestCollectedResults(t *testing.T) {
	score := 1.0
	var cells []report.Cell
	for _, solution := range []string{"a", "b"} {
		cells = append(cells, report.Cell{Problem: "p", Solution: solution, Backend: "local.host", Repeat: 1,
			Checkpoints: []report.Checkpoint{{Name: "first", Class: verdict.Judged, Score: &score}, {Name: "second", Class: verdict.Judged, Score: &score}}})
	}
	for name, c := range map[string]struct {
		expanded bool
		targets  []string
		want     string
	}{
		"closed":        {false, nil, "a/first a/second b/first b/second"},
		"a checkpoint":  {true, []string{"aggregate:p/second/b@local.host"}, "b/second"},
		"a cell":        {true, []string{"aggregate:p/first/a@local.host", "aggregate:p/second/a@local.host"}, "a/first a/second"},
		"none of these": {true, []string{"other"}, ""},
	} {
		f := opened(part("p", "a", new(partition.Facts)))
		f.call.partitions = partition.Store{Dir: t.TempDir()}
		var err error
		if f.parts[0].File, err = f.call.partitions.Put(new(partition.Facts), nil, cells); err != nil {
			t.Fatal(err)
		}
		g := graph.New()
		g.Add(graph.Node{Addr: "other"})
		for _, solution := range []string{"a", "b"} {
			for _, checkpoint := range []string{"first", "second"} {
				g.Add(graph.Node{Addr: fmt.Sprintf("aggregate:p/%s/%s@local.host", checkpoint, solution), Labels: []graph.Label{{Name: "problem", Value: "p"}}})
			}
		}
		wanted := (&Project{call: f.call, fresh: f, Plan: &plan.Plan{Graph: g}, expanded: c.expanded}).goalsOf(nil)
		for _, addr := range c.targets {
			id, ok := g.Lookup(addr)
			if !ok {
				t.Fatalf("there is no %s", addr)
			}
			wanted.targets = append(wanted.targets, id)
		}
		found, err := wanted.freshResults()
		if err != nil {
			t.Fatal(err)
		}
		results, err := found.results()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, cell := range results.Cells {
			for _, c := range cell.Checkpoints {
				got = append(got, cell.Solution+"/"+c.Name)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
