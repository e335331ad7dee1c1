package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/fake"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
)

// project is a configuration on disk, compiled onto fake backends.
type project struct {
	t     *testing.T
	dir   string
	store *cache.Memory
	log   memoryLog
	plan  *Plan
	boxes map[string]*box
}

// files of the projects below: two checkpoints, two solutions, of which "half"
// answers the first alone.
const files = `
-- tests/conftest.py --
-- tests/test_a.py --
-- tests/test_b.py --
-- data/x.txt --
-- good/a/kv.py --
a
-- good/b/kv.py --
a b
-- half/a/kv.py --
a
-- half/b/kv.py --
a, but not the other
`

const problem = `
problem "kv" {
  entry = "python kv.py"
  tags  = ["cli"]
  pytest { root = "tests" }
  asset "data" { source = "data" }
  marker "slow" { group = "functionality" }
  checkpoint "a" {}
  checkpoint "b" {}
}

solution "good" {
  problem = problem.kv
  source  = "good/${checkpoint.name}"
  labels  = { size = "large" }
}

solution "half" {
  problem = problem.kv
  source  = "half/${checkpoint.name}"
}

backend "local" "one" {}
`

func newProject(t *testing.T, config string) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir(), store: cache.NewMemory(), log: memoryLog{}, boxes: map[string]*box{}}
	for _, f := range txtar.Parse([]byte(files)).Files {
		p.write(f.Name, string(f.Data))
	}
	p.write("fevalgraph.hcl", config)
	p.compile()
	return p
}

func (p *project) write(name, content string) {
	p.t.Helper()
	at := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) compile() {
	p.t.Helper()
	cfg, findings := lang.Load(lang.Options{Dir: p.dir})
	if findings.HasErrors() {
		for _, f := range findings {
			p.t.Errorf("%+v", f)
		}
		p.t.FailNow()
	}
	var err error
	p.plan, err = Compile(cfg, 2, Environment{
		Store: p.store, States: read{},
		Backend: func(b *lang.Backend, _ []string) (Driver, error) {
			if p.boxes[b.Addr()] == nil {
				p.boxes[b.Addr()] = newBox(p.store)
			}
			return p.boxes[b.Addr()], nil
		},
		LookupEnv: func(name string) (string, bool) {
			return map[string]string{"HOME": "/home/me", "LANG": "C"}[name], name == "HOME"
		},
		Pins: func(context.Context, Driver, []string) ([]string, error) { return []string{"pytest==8.4.2"}, nil },
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

type read struct{}

func (read) Digest(path string, _ fs.FileInfo) (cache.Digest, error) {
	b, err := os.ReadFile(path)
	return cache.SumBytes(b), err
}

type memoryLog map[string]cache.LogEntry

func (l memoryLog) Get(addr string) (cache.LogEntry, bool) { e, ok := l[addr]; return e, ok }
func (l memoryLog) Append(e cache.LogEntry) error          { l[e.Addr] = e; return nil }

// box is a fake backend whose pytest passes the tests of a checkpoint when the
// submission's kv.py names it. Other words in there do other things.
type box struct {
	*fake.Backend
	mu     sync.Mutex
	tested []string        // what ran, by address
	hold   <-chan struct{} // what tests of checkpoint b wait for; nil is nothing
}

func (b *box) Interpreter(context.Context) (path, version string, err error) {
	return "/usr/bin/python3", "CPython 3.12.1", nil
}

func newBox(store cache.Store) *box {
	b := &box{}
	b.Backend = fake.New(store, func(ctx context.Context, c *fake.Call) (backend.Exit, error) {
		argv := c.Command.Argv
		if argv[0] != "uvx" || argv[len(argv)-1] == "--version" {
			return backend.Exit{}, nil
		}
		b.mu.Lock()
		b.tested = append(b.tested, c.Spec.Name)
		b.mu.Unlock()
		if b.hold != nil && strings.HasPrefix(c.Spec.Name, "pytest:kv/b/") {
			<-b.hold
		}
		return fakePytest(c)
	})
	return b
}

func fakePytest(c *fake.Call) (backend.Exit, error) {
	code, err := c.Files.Read("kv.py")
	if err != nil {
		return backend.Exit{}, err
	}
	words := strings.Fields(string(code))
	switch {
	case slices.Contains(words, "unplug"):
		return backend.Exit{}, errors.New("cable cut")
	case slices.Contains(words, "hang"):
		return backend.Exit{Code: -1, Signal: "killed", TimedOut: true}, nil
	case slices.Contains(words, "exit"):
		return backend.Exit{}, nil
	}
	exit := backend.Exit{Seconds: 1.5}
	var tests []map[string]any
	for _, name := range c.Files.Names() {
		checkpoint, ok := strings.CutPrefix(name, "tests/test_")
		if !ok {
			continue
		}
		checkpoint = strings.TrimSuffix(checkpoint, ".py")
		stage := map[string]any{"outcome": "passed", "duration": 0.5}
		test := map[string]any{"nodeid": name + "::test", "outcome": "passed", "setup": stage, "call": stage, "teardown": stage}
		if !slices.Contains(words, checkpoint) {
			test["outcome"], test["call"] = "failed", map[string]any{"outcome": "failed", "longrepr": "assert False"}
			exit.Code = 1
		}
		tests = append(tests, test)
	}
	reported, err := json.Marshal(map[string]any{"exitcode": exit.Code, "summary": map[string]any{"collected": len(tests)}, "tests": tests})
	if err != nil {
		return exit, err
	}
	c.Files.Write(".scbench/pytest-report.json", reported)
	fmt.Fprintf(c.Command.Output, "collected %d items\n", len(tests))
	return exit, nil
}

// execute runs the whole graph, or, with targets, a part of it.
func (p *project) execute(ctx context.Context, o graph.Options, targets ...graph.ID) (*graph.Report, *report.Results) {
	p.t.Helper()
	if targets == nil {
		for id := range graph.ID(p.plan.Graph.Len()) {
			targets = append(targets, id)
		}
	}
	o.Store, o.Locker, o.Log, o.Run, o.Pools = p.store, p.store, p.log, "run1", p.plan.Pools
	r, err := p.plan.Graph.Execute(ctx, targets, o)
	if err != nil {
		p.t.Fatal(err)
	}
	results, err := p.plan.Results(context.Background(), p.store, r, "run1")
	if err != nil {
		p.t.Fatal(err)
	}
	return r, results
}

// outline shows a graph: each node with its pool and what it needs.
func outline(t *testing.T, g *graph.Graph) string {
	t.Helper()
	ids := make([]graph.ID, g.Len())
	for i := range ids {
		ids[i] = graph.ID(i)
	}
	var b bytes.Buffer
	if err := g.Render(&b, "json", ids); err != nil {
		t.Fatal(err)
	}
	var decoded struct {
		Nodes []struct {
			Addr, Kind, Pool string
			Labels           map[string]string
			Needs            []string
		}
	}
	if err := json.Unmarshal(b.Bytes(), &decoded); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, n := range decoded.Nodes {
		fmt.Fprintf(&text, "%s (%s)\n", n.Addr, n.Pool)
		for _, need := range n.Needs {
			fmt.Fprintf(&text, "  %s\n", need)
		}
		if n.Labels["kind"] != n.Kind {
			t.Errorf("%s: kind %q is labelled %q", n.Addr, n.Kind, n.Labels["kind"])
		}
	}
	return text.String()
}

func TestGraph(t *testing.T) {
	p := newProject(t, strings.Replace(problem, `backend "local" "one" {}`, `
pool "wide" { slots = 3 }
backend "local" "one" { pool = pool.wide }
suite "nightly" {
  repeat = 2
  matrix {
    solution = [solution.good]
    backend  = [backend.local.one]
  }
}
suite "again" {
  matrix {
    solution = [solution.good]
    backend  = [backend.local.one]
  }
}`, 1))
	const want = `tests:kv/a ((in process))
submission:kv/a/good ((in process))
materialize:kv/data ((in process))
pytest:kv/a/good@local.one (wide)
  tests:kv/a
  submission:kv/a/good
  materialize:kv/data
parse:kv/a/good@local.one ((in process))
  pytest:kv/a/good@local.one
aggregate:kv/a/good@local.one ((in process))
  parse:kv/a/good@local.one
tests:kv/b ((in process))
submission:kv/b/good ((in process))
pytest:kv/b/good@local.one (wide)
  tests:kv/b
  submission:kv/b/good
  materialize:kv/data
parse:kv/b/good@local.one ((in process))
  pytest:kv/b/good@local.one
aggregate:kv/b/good@local.one ((in process))
  parse:kv/b/good@local.one
aggregate:kv/good@local.one ((in process))
  aggregate:kv/a/good@local.one
  aggregate:kv/b/good@local.one
pytest:kv/a/good@local.one#2 (wide)
  tests:kv/a
  submission:kv/a/good
  materialize:kv/data
parse:kv/a/good@local.one#2 ((in process))
  pytest:kv/a/good@local.one#2
aggregate:kv/a/good@local.one#2 ((in process))
  parse:kv/a/good@local.one#2
pytest:kv/b/good@local.one#2 (wide)
  tests:kv/b
  submission:kv/b/good
  materialize:kv/data
parse:kv/b/good@local.one#2 ((in process))
  pytest:kv/b/good@local.one#2
aggregate:kv/b/good@local.one#2 ((in process))
  parse:kv/b/good@local.one#2
aggregate:kv/good@local.one#2 ((in process))
  aggregate:kv/a/good@local.one#2
  aggregate:kv/b/good@local.one#2
aggregate:suite.nightly ((in process))
  aggregate:kv/good@local.one
  aggregate:kv/good@local.one#2
aggregate:suite.again ((in process))
  aggregate:kv/good@local.one
`
	if diff := cmp.Diff(want, outline(t, p.plan.Graph)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(p.plan.Cells) != 2 || !slices.Equal(p.plan.Cells[0].Suites, []string{"nightly", "again"}) {
		t.Errorf("cells: %+v", p.plan.Cells)
	}
	n := p.plan.Graph.Node(p.plan.Cells[0].Checkpoints[1].Pytest)
	var labels []string
	for _, l := range n.Labels {
		labels = append(labels, l.Name+"="+l.Value)
		if !slices.Contains(Axes, l.Name) {
			t.Errorf("%q is not an axis", l.Name)
		}
	}
	want2 := []string{"kind=pytest", "problem=kv", "checkpoint=b", "tag=cli", "solution=good", "backend=local.one", "repeat=1", "suite=nightly", "suite=again"}
	if diff := cmp.Diff(want2, labels); diff != "" {
		t.Error(diff)
	}
}

// TestSharing: what cells have in common is one node, and an edit of it runs
// what depends on it and nothing else.
func TestSharing(t *testing.T) {
	p := newProject(t, problem+`backend "local" "two" {}`)
	kinds := map[string]int{}
	for id := range graph.ID(p.plan.Graph.Len()) {
		kinds[p.plan.Graph.Node(id).Kind]++
	}
	want := map[string]int{KindMaterialize: 1, KindTests: 2, KindSubmission: 4, KindPytest: 8, KindParse: 8, KindAggregate: 8 + 4 + 1}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	ran := func() []string {
		t.Helper()
		for _, b := range p.boxes {
			b.tested = nil
		}
		p.compile()
		p.execute(t.Context(), graph.Options{})
		var all []string
		for _, b := range p.boxes {
			all = append(all, b.tested...)
		}
		slices.Sort(all)
		return all
	}
	// Both backends have one identity, and both solutions answer a alike: three
	// questions in all.
	if got := ran(); len(got) != 3 {
		t.Errorf("ran %q", got)
	}
	if got := ran(); len(got) != 0 {
		t.Errorf("ran again: %q", got)
	}
	p.write("tests/test_b.py", "# changed\n")
	if got := ran(); len(got) != 2 || !strings.HasPrefix(got[0], "pytest:kv/b/") || !strings.HasPrefix(got[1], "pytest:kv/b/") {
		t.Errorf("after an edit of the tests of b: %q", got)
	}
	p.write("half/a/kv.py", "a # changed\n")
	if got := ran(); len(got) != 1 || !strings.HasPrefix(got[0], "pytest:kv/a/half@") {
		t.Errorf("after an edit of a solution: %q", got)
	}
	p.write("data/x.txt", "changed\n")
	if got := ran(); len(got) != 4 {
		t.Errorf("after an edit of an asset: %q", got)
	}
	p.boxes["local.two"].Ident = backend.Identity{{Label: "platform", Value: "another"}}
	if got := ran(); len(got) != 4 || slices.ContainsFunc(got, func(addr string) bool { return !strings.HasSuffix(addr, "@local.two") }) {
		t.Errorf("after a change of the second backend: %q", got)
	}
}

// tell shows the results in short.
func tell(r *report.Results) []string {
	var all []string
	for _, c := range r.Cells {
		line := fmt.Sprintf("%s %s %s", c.Solution, c.Backend, c.Status)
		for _, cp := range c.Checkpoints {
			line += fmt.Sprintf("; %s %s", cp.Name, cp.Class)
			if cp.Passed {
				line += " passed"
			}
			for _, g := range report.Groups {
				if n := cp.Groups[g]; n.Total > 0 {
					line += fmt.Sprintf(" %s %d/%d", g, n.Passed, n.Total)
				}
			}
		}
		all = append(all, line)
	}
	return all
}

func TestResults(t *testing.T) {
	p := newProject(t, problem)
	_, results := p.execute(t.Context(), graph.Options{})
	want := []string{
		"good local.one success; a judged passed core 1/1; b judged passed core 1/1 regression 1/1",
		"half local.one success; a judged passed core 1/1; b judged core 0/1 regression 0/1",
	}
	if diff := cmp.Diff(want, tell(results)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	first := results.Cells[0].Checkpoints[0]
	if first.DurationMS != 1500 || first.Policy != "core-cases" || *first.ExitCode != 0 || first.Tests[0].DurationMS != 1500 || first.Tests[0].Message != nil {
		t.Errorf("%+v", first)
	}
	failing := results.Cells[1].Checkpoints[1].Tests[0]
	if failing.Status != report.TestFailed || failing.Message == nil || *failing.Message != "assert False" {
		t.Errorf("%+v", failing)
	}
	if results.Cells[0].Labels["size"] != "large" || !slices.Equal(results.Cells[0].Suites, []string{"default"}) {
		t.Errorf("%+v", results.Cells[0])
	}
	// Served from the store, the results are the same.
	_, again := p.execute(t.Context(), graph.Options{})
	if diff := cmp.Diff(results, again); diff != "" {
		t.Errorf("(-first +second)\n%s", diff)
	}
	// A part is asked for.
	_, part := p.execute(t.Context(), graph.Options{}, p.plan.Cells[0].Checkpoints[1].Aggregate)
	if got := tell(part); len(got) != 1 || got[0] != "good local.one success; b judged passed core 1/1 regression 1/1" {
		t.Errorf("a part: %q", got)
	}
}

// TestResultsWithoutVerdict: what kept a checkpoint from a verdict is told
// apart, and none of it passes.
func TestResultsWithoutVerdict(t *testing.T) {
	for _, try := range []struct {
		name, code string
		want       string
		message    string
		infra      bool
	}{
		{name: "machinery", code: "unplug", want: "broken; a broken; b judged passed core 1/1 regression 1/1", infra: true,
			message: "a: pytest:kv/a/good@local.one broken: running pytest: cable cut"},
		{name: "no report", code: "exit", want: "error; a no_report; b judged passed core 1/1 regression 1/1", infra: true, message: "a: pytest ended with exit code 0, but there is no report to trust"},
		{name: "limit", code: "hang", want: "timeout; a timeout; b judged passed core 1/1 regression 1/1", infra: true, message: "a: the session limit of 300 s ended pytest"},
		{name: "input", code: "", want: "error; a input_error; b judged passed core 1/1 regression 1/1", message: "a: submission:kv/a/good failed: "},
	} {
		p := newProject(t, problem)
		p.write("good/a/kv.py", try.code)
		if try.name == "input" {
			if err := syscall.Mkfifo(filepath.Join(p.dir, "good/a/pipe"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, results := p.execute(t.Context(), graph.Options{})
		cell := results.Cells[0]
		if got := tell(results)[0]; got != "good local.one "+try.want {
			t.Errorf("%s: %s", try.name, got)
		}
		if cell.Message == nil || !strings.HasPrefix(*cell.Message, try.message) {
			t.Errorf("%s: message %s", try.name, cmp.Diff(&try.message, cell.Message))
		}
		if c := cell.Checkpoints[0]; c.Passed || c.InfrastructureFailure != try.infra || len(c.Groups) != len(report.Groups) || c.Tests == nil {
			t.Errorf("%s: %+v", try.name, c)
		}
		if got := tell(results)[1]; !strings.Contains(got, "half local.one success") {
			t.Errorf("%s: the other solution: %s", try.name, got)
		}
	}
}

func TestResultsInterrupted(t *testing.T) {
	p := newProject(t, problem)
	hold := make(chan struct{})
	p.boxes["local.one"].hold = hold
	o := graph.Options{Stop: func(id graph.ID, _ *graph.Status) bool {
		if p.plan.Graph.Node(id).Addr != "aggregate:kv/a/good@local.one" {
			return false
		}
		close(hold)
		return true
	}}
	p.plan.Pools[graph.CPUPool] = 4 // or what waits could keep the rest from starting
	r, results := p.execute(t.Context(), o)
	if r.Interrupted == 0 {
		t.Fatalf("%+v", r)
	}
	for _, c := range results.Cells {
		for _, cp := range c.Checkpoints {
			if judged := cp.Class == report.Judged; !judged && (cp.Passed || cp.Message == nil) {
				t.Errorf("%s %s: %+v", c.Solution, cp.Name, cp)
			}
		}
	}
	if got := tell(results)[0]; got != "good local.one skipped; a judged passed core 1/1; b skipped" {
		t.Errorf("a cell of which a part was judged: %s", got)
	}
	// What was not judged is judged by the next run, and nothing is twice.
	_, results = p.execute(t.Context(), graph.Options{})
	if got := p.boxes["local.one"].tested; len(got) != 3 {
		t.Errorf("tested %q", got)
	}
	if got := tell(results); !strings.HasSuffix(got[1], "b judged core 0/1 regression 0/1") {
		t.Errorf("%q", got)
	}
}

func TestMissingCheckpoint(t *testing.T) {
	p := newProject(t, strings.Replace(problem, `source  = "half/${checkpoint.name}"`, `source  = "part/${checkpoint.name}"
  missing = "skip"`, 1))
	p.write("part/a/kv.py", "a")
	p.compile()
	_, results := p.execute(t.Context(), graph.Options{})
	if got := tell(results)[1]; got != "half local.one success; a judged passed core 1/1" {
		t.Errorf("%s", got)
	}
	if cell := p.plan.Cells[1]; !slices.Equal(cell.NotReached, []string{"b"}) {
		t.Errorf("%+v", cell)
	}
}

func TestPass(t *testing.T) {
	for _, try := range []struct {
		rule         string
		good, half   bool // whether checkpoint b passes
		message, key string
	}{
		{rule: `policy = "all-cases"`, good: true, key: "all-cases"},
		{rule: `policy = "any"`, good: true, half: true},
		{rule: `when = self.core.passed == self.core.total && self.total.total > 1`, good: true, key: "when self.core.passed == self.core.total && self.total.total > 1"},
		{rule: `when = self.regression.total == 1 && self.name == "b" && self.collected == 2 && self.class == "judged"`, good: true, half: true},
		{rule: `when = self.exit_code == 1`, half: true},
		{rule: `when = self.core`, message: "pass.when must be true or false, not object"},
		{rule: `when = null`, message: "pass.when must be true or false"},
	} {
		p := newProject(t, strings.Replace(problem, `checkpoint "b" {}`, "checkpoint \"b\" {\n pass {\n"+try.rule+"\n}\n}", 1))
		_, results := p.execute(t.Context(), graph.Options{})
		good, half := results.Cells[0].Checkpoints[1], results.Cells[1].Checkpoints[1]
		if good.Passed != try.good || half.Passed != try.half {
			t.Errorf("%s: %q", try.rule, tell(results))
		}
		if try.key != "" && good.Policy != try.key {
			t.Errorf("%s: policy %q", try.rule, good.Policy)
		}
		if try.message != "" && (good.Class != report.InputError || good.Message == nil || !strings.Contains(*good.Message, try.message)) {
			t.Errorf("%s: %s, %v", try.rule, good.Class, *good.Message)
		}
	}
	// A condition is never asked about what was not judged.
	p := newProject(t, strings.Replace(problem, `checkpoint "b" {}`, "checkpoint \"b\" {\n pass { when = true }\n}", 1))
	p.write("good/b/kv.py", "exit")
	_, results := p.execute(t.Context(), graph.Options{})
	if c := results.Cells[0].Checkpoints[1]; c.Passed || c.Class != report.NoReport {
		t.Errorf("%+v", c)
	}
}

func TestShards(t *testing.T) {
	const count = 3
	whole := newProject(t, problem+"suite \"s\" {\n repeat = 20\n matrix { solution = [solution.good, solution.half] }\n}")
	var all, parts []string
	for _, c := range whole.plan.Cells {
		all = append(all, c.Name())
		in := 0
		for i := range count {
			if c.InShard(i+1, count) {
				in++
			}
		}
		if in != 1 {
			t.Errorf("%s is in %d shards", c.Name(), in)
		}
	}
	for i := range count {
		p := newProject(t, problem+fmt.Sprintf("suite \"s\" {\n repeat = 20\n shard = \"%d/%d\"\n matrix { solution = [solution.good, solution.half] }\n}", i+1, count))
		if n := len(p.plan.Cells); n < 4 || n > 24 {
			t.Errorf("shard %d has %d of 40 cells", i+1, n)
		}
		for _, c := range p.plan.Cells {
			parts = append(parts, c.Name())
		}
	}
	slices.Sort(all)
	slices.Sort(parts)
	if diff := cmp.Diff(all, parts); diff != "" {
		t.Errorf("the shards are no partition: %s", diff)
	}
}

func TestEnvironmentOfTests(t *testing.T) {
	p := newProject(t, strings.Replace(problem, `backend "local" "one" {}`, `backend "local" "one" {
  env     = { LEVEL = "backend", OWN = "1" }
  inherit = ["HOME", "UNSET"]
}`, 1))
	p.write("fevalgraph.hcl", strings.Replace(readFile(t, p.dir), `entry = "python kv.py"`, "entry = \"python kv.py\"\n  env = { LEVEL = \"problem\" }", 1))
	p.compile()
	p.execute(t.Context(), graph.Options{})
	env := map[string]string{}
	for _, v := range p.boxes["local.one"].Calls()[0].Command.Env {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value // the last one wins
	}
	for name, want := range map[string]string{"LEVEL": "problem", "OWN": "1", "HOME": "/home/me", "LANG": "C.UTF-8",
		"UV_CACHE_DIR": "/home/me/.cache/uv", "SCBENCH_ASSETS_DIR": "/workspace/tests/assets"} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
	if _, there := env["UNSET"]; there {
		t.Error("a variable that is not set is passed on")
	}
}

func readFile(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "fevalgraph.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLockAll(t *testing.T) {
	p := newProject(t, problem)
	if err := p.plan.LockAll(t.Context()); err != nil {
		t.Error(err)
	}
	unplugged := errors.New("unplugged")
	failing, err := Compile(p.plan.Config, 1, Environment{Store: p.store, States: read{},
		Backend:   func(*lang.Backend, []string) (Driver, error) { return newBox(p.store), nil },
		LookupEnv: func(string) (string, bool) { return "", false },
		Pins:      func(context.Context, Driver, []string) ([]string, error) { return nil, unplugged }})
	if err != nil {
		t.Fatal(err)
	}
	if err := failing.LockAll(t.Context()); !errors.Is(err, unplugged) || !strings.HasPrefix(err.Error(), "locking the requirements of problem kv: ") {
		t.Errorf("%v", err)
	}
	_, err = Compile(p.plan.Config, 1, Environment{Store: p.store, States: read{},
		Backend:   func(*lang.Backend, []string) (Driver, error) { return nil, unplugged },
		LookupEnv: func(string) (string, bool) { return "", false }})
	if !errors.Is(err, unplugged) || err.Error() != "backend local.one: unplugged" {
		t.Errorf("%v", err)
	}
}

// TestIdentityIsAskedUntilKnown: a backend that cannot be reached at first
// breaks what needs it then, and no more.
func TestIdentityIsAskedUntilKnown(t *testing.T) {
	asked, unplugged := 0, errors.New("unplugged")
	identify := remember(func(context.Context) (backend.Identity, error) {
		if asked++; asked == 1 {
			return nil, unplugged
		}
		return backend.Identity{{Label: "a", Value: "b"}}, nil
	})
	if _, err := identify(t.Context()); !errors.Is(err, unplugged) {
		t.Errorf("%v", err)
	}
	for range 3 {
		if id, err := identify(t.Context()); err != nil || len(id) != 1 {
			t.Errorf("%v, %v", id, err)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}
