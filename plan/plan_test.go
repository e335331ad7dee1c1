package plan

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
)

// outline formats a graph: each node with its pool and its inputs.
func outline(t *testing.T, g *graph.Graph) string {
	t.Helper()
	ids := make([]graph.ID, g.Len())
	for i := range ids {
		ids[i] = graph.ID(i)
	}
	var b bytes.Buffer
	if err := g.RenderJSON(&b, ids, func(graph.ID) (s graph.NodeState) { return s }); err != nil {
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
`
	if diff := cmp.Diff(want, outline(t, p.plan.Graph)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(p.plan.Cells) != 2 || !slices.Equal(p.plan.Cells[0].Suites, []string{"nightly", "again"}) {
		t.Errorf("cells: %+v", p.plan.Cells)
	}
	n := p.plan.Graph.Node(p.plan.Cells[0].Checkpoints[1].Own[0])
	var labels []string
	for _, l := range n.Labels {
		labels = append(labels, l.Name+"="+l.Value)
		if !slices.Contains(Axes, l.Name) {
			t.Errorf("%q is not an axis", l.Name)
		}
	}
	want2 := []string{"problem=kv", "checkpoint=b", "tag=cli", "solution=good", "backend=local.one", "repeat=1", "suite=nightly", "suite=again"}
	if diff := cmp.Diff(want2, labels); diff != "" {
		t.Error(diff)
	}
}

// TestSharing: cells share common nodes, and an edit reruns only nodes that depend on it.
func TestSharing(t *testing.T) {
	p := newProject(t, problem+`backend "local" "two" {}`)
	kinds := map[string]int{}
	for id := range graph.ID(p.plan.Graph.Len()) {
		kinds[p.plan.Graph.Node(id).Kind]++
	}
	want := map[string]int{KindMaterialize: 1, KindTests: 2, KindSubmission: 4, KindPytest: 8, KindParse: 8, KindAggregate: 8}
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

func TestShards(t *testing.T) {
	const count = 3
	whole := newProject(t, problem+"suite \"s\" {\n repeat = 20\n matrix { solution = [solution.good, solution.half] }\n}")
	var all, parts []string
	for _, c := range whole.plan.Cells {
		all = append(all, c.Name())
		in := 0
		for i := range count {
			if InShard(lang.Cell{Solution: c.Solution, Backend: c.Backend, Repeat: c.Repeat}, i+1, count) {
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
		t.Errorf("the shards do not partition the cells: %s", diff)
	}
}

func TestEnvironmentOfTests(t *testing.T) {
	p := newProject(t, strings.Replace(problem, `backend "local" "one" {}`, `backend "local" "one" {
  env     = { LEVEL = "backend", OWN = "1" }
  inherit = ["HOME", "UNSET"]
  python  = "3.12"
}`, 1))
	p.write("fevalgraph.hcl", strings.Replace(readFile(t, p.dir), `entry = "python kv.py"`, "entry = \"python kv.py\"\n  env = { LEVEL = \"problem\" }", 1))
	p.compile()
	p.execute(t.Context(), graph.Options{})
	env := map[string]string{}
	// The first command prepares.
	for _, v := range p.boxes["local.one"].Calls()[1].Command.Env {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value // the last one wins
	}
	for name, want := range map[string]string{"LEVEL": "problem", "OWN": "1", "HOME": "/home/me", "LANG": "C.UTF-8",
		"UV_CACHE_DIR": "/cache of local/uv", "UV_PYTHON": "3.12", "SCBENCH_ASSETS_DIR": "/fake-workspace/tests/assets"} {
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
		Executor:  func(*lang.Backend, []string) (Executor, error) { return Executor{Backend: newBox(p.store)}, nil },
		LookupEnv: func(string) (string, bool) { return "", false },
		Pins:      func(context.Context, backend.Backend, []string, []string) ([]string, error) { return nil, unplugged }})
	if err != nil {
		t.Fatal(err)
	}
	if err := failing.LockAll(t.Context()); !errors.Is(err, unplugged) || !strings.HasPrefix(err.Error(), "locking the requirements of problem kv: ") {
		t.Errorf("%v", err)
	}
	_, err = Compile(p.plan.Config, 1, Environment{Store: p.store, States: read{},
		Executor:  func(*lang.Backend, []string) (Executor, error) { return Executor{}, unplugged },
		LookupEnv: func(string) (string, bool) { return "", false }})
	if !errors.Is(err, unplugged) || err.Error() != "backend local.one: unplugged" {
		t.Errorf("%v", err)
	}
}

// TestIdentityIsAskedUntilKnown: a backend that is unreachable at first breaks the nodes of that moment; only the first
// of them waits for it.
func TestIdentityIsAskedUntilKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, unplugged := 0, errors.New("unplugged")
		identify := remember(func(ctx context.Context) (backend.Identity, error) {
			if asked++; asked <= 2 {
				return nil, errors.Join(unplugged, ctx.Err())
			}
			return backend.Identity{{Label: "a", Value: "b"}}, nil
		})
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := identify(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		for range 3 {
			if _, err := identify(t.Context()); !errors.Is(err, unplugged) || errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
		}
		if asked != 2 {
			t.Errorf("%d queries for two failures", asked)
		}
		time.Sleep(failureKept) // of synthetic time
		for range 3 {
			if id, err := identify(t.Context()); err != nil || len(id) != 1 {
				t.Errorf("%v, %v", id, err)
			}
		}
		if asked != 3 {
			t.Errorf("%d queries", asked)
		}
	})
}
