package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// divided is the problem with one more checkpoint and a node for each of its
// test files.
var divided = strings.NewReplacer(
	`pytest { root = "tests" }`, "pytest {\n root = \"tests\"\n split = \"file\"\n}",
	`checkpoint "b" {}`, "checkpoint \"b\" {}\n checkpoint \"c\" { tests = [\"test_c2.py\", \"test_c1.py\"] }",
).Replace(problem)

// newDivided lays out the project with the given configuration and the tests
// and code of checkpoint c.
func newDivided(t *testing.T, config string) *project {
	t.Helper()
	p := newProject(t, problem)
	for _, name := range []string{"tests/test_c1.py", "tests/test_c2.py"} {
		p.write(name, "")
	}
	p.write("good/c/kv.py", "a b c1 c2")
	p.write("half/c/kv.py", "b c2")
	p.write("fevalgraph.hcl", config)
	p.compile()
	return p
}

func TestDividedGraph(t *testing.T) {
	p := newDivided(t, divided)
	var nodes []string
	for line := range strings.Lines(outline(t, p.plan.Graph)) {
		if strings.HasPrefix(line, "aggregate") {
			break
		}
		nodes = append(nodes, line)
	}
	const want = `tests:kv/test_a.py ((in process))
submission:kv/a/good ((in process))
materialize:kv/data ((in process))
pytest:kv/a/good@local.one/test_a.py (cpu)
  tests:kv/test_a.py
  submission:kv/a/good
  materialize:kv/data
parse:kv/a/good@local.one ((in process))
  pytest:kv/a/good@local.one/test_a.py
`
	if diff := cmp.Diff(want, strings.Join(nodes, "")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// The checkpoint's own file, the first of them, brings what is common.
	whole, _ := p.plan.Graph.Lookup("parse:kv/c/good@local.one")
	var got []string
	for _, d := range p.plan.Graph.Node(whole).Deps {
		n := p.plan.Graph.Node(d.On)
		got = append(got, fmt.Sprintf("%s as %q runs %q of %s, label %q", n.Addr, d.As, n.Task.(*pytest.Run).File, p.plan.Graph.Node(n.Deps[0].On).Addr, n.Label("file")))
	}
	want2 := []string{
		`pytest:kv/c/good@local.one/test_a.py as "pytest test_a.py" runs "test_a.py" of tests:kv/test_a.py, label "test_a.py"`,
		`pytest:kv/c/good@local.one/test_b.py as "pytest test_b.py" runs "test_b.py" of tests:kv/test_b.py, label "test_b.py"`,
		`pytest:kv/c/good@local.one/test_c1.py as "pytest test_c1.py" runs "" of tests:kv/test_c1.py, label "test_c1.py"`,
		`pytest:kv/c/good@local.one/test_c2.py as "pytest test_c2.py" runs "test_c2.py" of tests:kv/test_c2.py, label "test_c2.py"`,
	}
	if diff := cmp.Diff(want2, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	kinds := map[string]int{}
	for id := range graph.ID(p.plan.Graph.Len()) {
		kinds[p.plan.Graph.Node(id).Kind]++
	}
	if diff := cmp.Diff(map[string]int{KindMaterialize: 1, KindTests: 4, KindSubmission: 6, KindPytest: 14, KindParse: 6, KindAggregate: 6 + 2 + 1}, kinds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestDividedByNames: which files get a node, and which one brings the rest.
func TestDividedByNames(t *testing.T) {
	for _, try := range []struct {
		checkpoint string
		want       []string // the parts of the checkpoint; "*" brings the rest
	}{
		{`checkpoint "b" {}`, []string{"test_a.py", "test_b.py*"}},
		{`checkpoint "b" { include_prior_tests = false }`, []string{"test_b.py*"}},
		{`checkpoint "b" { tests = ["test_a.py", "test_b.py"] }`, []string{"test_a.py*", "test_b.py"}},
		{`checkpoint "b" { tests = ["b_test.py"] }`, []string{"test_a.py*"}},
		{`checkpoint "b" { tests = ["test_z.py"] }`, []string{"test_a.py*"}},
		{"checkpoint \"b\" {\n tests = [\"test_z.py\"]\n include_prior_tests = false\n}", []string{"*"}},
		{"checkpoint \"b\" {\n tests = [\"b_test.py\", \"sub/test_b.py\"]\n include_prior_tests = false\n}", []string{"*"}},
	} {
		p := newProject(t, problem)
		p.write("tests/b_test.py", "")
		p.write("tests/sub/test_b.py", "")
		p.write("fevalgraph.hcl", strings.NewReplacer(`checkpoint "b" {}`, try.checkpoint, `split = "file"`, "split = \"file\"\n missing_tests = \"skip\"", "\n checkpoint \"c\" { tests = [\"test_c2.py\", \"test_c1.py\"] }", "").Replace(divided))
		p.compile()
		var got []string
		for _, id := range p.plan.Cells[0].Checkpoints[1].Pytest {
			n := p.plan.Graph.Node(id)
			name := n.Label("file")
			if n.Task.(*pytest.Run).File == "" {
				name += "*"
			}
			got = append(got, name)
			if tests := p.plan.Graph.Node(n.Deps[0].On); name == "*" && (n.Addr != "pytest:kv/b/good@local.one" || tests.Addr != "tests:kv/common") {
				t.Errorf("%s runs %s", n.Addr, tests.Addr)
			}
		}
		if !slices.Equal(got, try.want) {
			t.Errorf("%s: %q, want %q", try.checkpoint, got, try.want)
		}
	}
}

// TestDividedResults: the results, and the joined records of the parts, equal those of undivided runs.
func TestDividedResults(t *testing.T) {
	for _, code := range []string{"a b c1 c2", "b c1 c2", "", "exit", "hang"} {
		judged := func(config string) (told []string, c report.Checkpoint, jsonReport, log []byte) {
			p := newDivided(t, config)
			p.write("good/c/kv.py", code)
			r, results := p.execute(t.Context(), graph.Options{})
			cell := p.plan.Cells[0]
			jsonReport, log, err := p.plan.PytestOutput(t.Context(), p.store, r, cell, &cell.Checkpoints[2])
			if err != nil {
				t.Fatal(err)
			}
			return formatResults(results), results.Cells[0].Checkpoints[2], jsonReport, log
		}
		want, wantLast, wantReport, _ := judged(strings.Replace(divided, `split = "file"`, "", 1))
		got, gotLast, gotReport, log := judged(divided)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-undivided +divided)\n%s", code, diff)
		}
		if wantLast.Name != "c" {
			t.Fatalf("the last checkpoint is %q", wantLast.Name)
		}
		if code != "exit" && code != "hang" {
			if wantLast.DurationMS *= 4; wantLast.DurationMS != 6000 { // four runs of a second and a half
				t.Errorf("%q: %v ms", code, wantLast.DurationMS)
			}
			if diff := cmp.Diff(wantLast, gotLast); diff != "" {
				t.Errorf("%q: the last checkpoint (-undivided +divided)\n%s", code, diff)
			}
		}
		if (gotReport != nil) != (wantReport != nil) {
			t.Errorf("%q: there is a report: %t", code, gotReport != nil)
		}
		if n := strings.Count(string(log), "==> tests/test_"); n != 4 {
			t.Errorf("%q: the output is of %d files:\n%s", code, n, log)
		}
	}
}

// TestDividedRuns: an edit runs one file in each checkpoint that contains it, and a checkpoint with one file has the
// key of an undivided one.
func TestDividedRuns(t *testing.T) {
	p := newDivided(t, strings.Replace(divided, `split = "file"`, "", 1))
	ran := func() []string {
		t.Helper()
		b := p.boxes["local.one"]
		b.tested = nil
		p.compile()
		p.execute(t.Context(), graph.Options{})
		slices.Sort(b.tested)
		return b.tested
	}
	if got := ran(); len(got) != 5 { // both solutions answer a alike
		t.Errorf("undivided: %q", got)
	}
	p.write("fevalgraph.hcl", divided)
	if got := ran(); len(got) != 2*2+2*4 || slices.ContainsFunc(got, func(addr string) bool { return strings.HasPrefix(addr, "pytest:kv/a/") }) {
		t.Errorf("divided: %q", got)
	}
	p.write("tests/test_b.py", "# changed\n")
	want := []string{"pytest:kv/b/good@local.one/test_b.py", "pytest:kv/b/half@local.one/test_b.py", "pytest:kv/c/good@local.one/test_b.py", "pytest:kv/c/half@local.one/test_b.py"}
	if got := ran(); !slices.Equal(got, want) {
		t.Errorf("after an edit of the tests of b: %q", got)
	}
	p.write("tests/helpers.py", "# new\n")
	if got := ran(); len(got) != 1+2*2+2*4 {
		t.Errorf("after an edit of what is common: %q", got)
	}
}

// TestDividedBroken: a broken part leaves no verdict, but the results of the others are saved.
func TestDividedBroken(t *testing.T) {
	p := newDivided(t, divided)
	p.boxes["local.one"].unplugged = "pytest:kv/c/good@local.one/test_b.py"
	_, results := p.execute(t.Context(), graph.Options{})
	c := results.Cells[0].Checkpoints[2]
	if want := "pytest:kv/c/good@local.one/test_b.py broken: running pytest: cable cut"; c.Passed || c.Message == nil || *c.Message != want {
		t.Errorf("%+v", c)
	}
	b := p.boxes["local.one"]
	b.tested, b.unplugged = nil, ""
	_, results = p.execute(t.Context(), graph.Options{})
	if got := formatResults(results)[0]; got != "good local.one success; a judged passed core 1/1; b judged passed core 1/1 regression 1/1; c judged passed core 2/2 regression 2/2" {
		t.Errorf("%s", got)
	}
	if want := []string{"pytest:kv/c/good@local.one/test_b.py"}; !slices.Equal(b.tested, want) {
		t.Errorf("ran %q", b.tested)
	}
}
