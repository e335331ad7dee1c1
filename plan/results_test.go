package plan

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// formatResults formats the results briefly.
func formatResults(r *report.Results) []string {
	var all []string
	for _, c := range r.Cells {
		line := fmt.Sprintf("%s %s %s", c.Solution, c.Backend, c.Status)
		for _, cp := range c.Checkpoints {
			line += fmt.Sprintf("; %s %s", cp.Name, cp.Class)
			if cp.Passed {
				line += " passed"
			}
			for _, g := range verdict.Groups {
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
	if diff := cmp.Diff(want, formatResults(results)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	first := results.Cells[0].Checkpoints[0]
	if first.DurationMS != 1500 || first.Policy != "strict-core-cases" || *first.ExitCode != 0 || first.Tests[0].DurationMS != 1500 || first.Tests[0].Message != nil {
		t.Errorf("%+v", first)
	}
	failing := results.Cells[1].Checkpoints[1].Tests[0]
	if failing.Status != verdict.TestFailed || failing.Message == nil || *failing.Message != "assert False" {
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
	// Selects a part of the cells.
	_, part := p.execute(t.Context(), graph.Options{}, p.plan.Cells[0].Checkpoints[1].Aggregate)
	if got := formatResults(part); len(got) != 1 || got[0] != "good local.one success; b judged passed core 1/1 regression 1/1" {
		t.Errorf("a part: %q", got)
	}
}

// TestResultsWithoutVerdict: reasons for a missing verdict are listed separately, and none of these cells passes.
func TestResultsWithoutVerdict(t *testing.T) {
	for _, try := range []struct {
		name, code string
		want       string
		message    string
		infra      bool
	}{
		{name: "machinery", code: "unplug", want: "broken; a broken; b judged passed core 1/1 regression 1/1", infra: true,
			message: "a: pytest:kv/a/good@local.one broken: running pytest: cable cut"},
		{name: "no report", code: "exit", want: "error; a no_report; b judged passed core 1/1 regression 1/1", infra: true, message: "a: pytest ended with exit code 0, without a valid report"},
		{name: "limit", code: "hang", want: "timeout; a timeout; b judged passed core 1/1 regression 1/1", infra: true, message: "a: pytest exceeded the session limit of 5m0s"},
		{name: "refused", code: "", want: "error; a refused; b judged passed core 1/1 regression 1/1", message: "a: s is a socket; only files, directories and links"},
		{name: "input", code: "", want: "error; a input_error; b judged passed core 1/1 regression 1/1", message: "a: submission:kv/a/good failed: "},
	} {
		p := newProject(t, problem)
		p.write("good/a/kv.py", try.code)
		switch try.name {
		case "refused":
			l, err := net.Listen("unix", filepath.Join(p.dir, "good/a/s")) // neither a file nor a directory
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		case "input":
			if err := errors.Join(os.RemoveAll(filepath.Join(p.dir, "good/a")), os.Symlink("a", filepath.Join(p.dir, "good/a"))); err != nil {
				t.Fatal(err)
			}
		}
		_, results := p.execute(t.Context(), graph.Options{})
		cell := results.Cells[0]
		if got := formatResults(results)[0]; got != "good local.one "+try.want {
			t.Errorf("%s: %s", try.name, got)
		}
		if cell.Message == nil || !strings.HasPrefix(*cell.Message, try.message) {
			t.Errorf("%s: message %s", try.name, cmp.Diff(&try.message, cell.Message))
		}
		if c := cell.Checkpoints[0]; c.Passed || c.InfrastructureFailure != try.infra || len(c.Groups) != len(verdict.Groups) || c.Tests == nil {
			t.Errorf("%s: %+v", try.name, c)
		}
		if got := formatResults(results)[1]; !strings.Contains(got, "half local.one success") {
			t.Errorf("%s: the other solution: %s", try.name, got)
		}
	}
}

func TestResultsInterrupted(t *testing.T) {
	p := newProject(t, problem)
	hold := make(chan struct{})
	p.boxes["local.one"].hold = hold
	o := graph.Options{
		Hooks: graph.Hooks{Stop: func(id graph.ID, _ *graph.Status) bool {
			if p.plan.Graph.Node(id).Addr != "aggregate:kv/a/good@local.one" {
				return false
			}
			close(hold)
			return true
		}},
	}
	p.plan.Pools[graph.CPUPool] = 4 // or what waits could keep the rest from starting
	r, results := p.execute(t.Context(), o)
	if r.Interrupted == 0 {
		t.Fatalf("%+v", r)
	}
	for _, c := range results.Cells {
		for _, cp := range c.Checkpoints {
			if judged := cp.Class == verdict.Judged; !judged && (cp.Passed || cp.Message == nil) {
				t.Errorf("%s %s: %+v", c.Solution, cp.Name, cp)
			}
		}
	}
	if got := formatResults(results)[0]; got != "good local.one skipped; a judged passed core 1/1; b skipped" {
		t.Errorf("a partially judged cell: %s", got)
	}
	// The next run judges the remaining cells, each only once.
	_, results = p.execute(t.Context(), graph.Options{})
	if got := p.boxes["local.one"].tested; len(got) != 3 {
		t.Errorf("tested %q", got)
	}
	if got := formatResults(results); !strings.HasSuffix(got[1], "b judged core 0/1 regression 0/1") {
		t.Errorf("%q", got)
	}
}

func TestMissingCheckpoint(t *testing.T) {
	p := newProject(t, strings.Replace(problem, `source  = "half/${checkpoint.name}"`, `source  = "part/${checkpoint.name}"
  missing = "skip"`, 1))
	p.write("part/a/kv.py", "a")
	p.compile()
	_, results := p.execute(t.Context(), graph.Options{})
	if got := formatResults(results)[1]; got != "half local.one error; a judged passed core 1/1; b not_reached" {
		t.Errorf("%s", got)
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
		{rule: `when = null`, message: "pass.when must be true or false"},
	} {
		p := newProject(t, strings.Replace(problem, `checkpoint "b" {}`, "checkpoint \"b\" {\n pass {\n"+try.rule+"\n}\n}", 1))
		_, results := p.execute(t.Context(), graph.Options{})
		good, half := results.Cells[0].Checkpoints[1], results.Cells[1].Checkpoints[1]
		if good.Passed != try.good || half.Passed != try.half {
			t.Errorf("%s: %q", try.rule, formatResults(results))
		}
		if try.key != "" && good.Policy != try.key {
			t.Errorf("%s: policy %q", try.rule, good.Policy)
		}
		if try.message != "" && (good.Class != verdict.InputError || good.Message == nil || !strings.Contains(*good.Message, try.message)) {
			t.Errorf("%s: %s, %v", try.rule, good.Class, *good.Message)
		}
	}
	// Conditions are not evaluated for cells without a verdict.
	p := newProject(t, strings.Replace(problem, `checkpoint "b" {}`, "checkpoint \"b\" {\n pass { when = true }\n}", 1))
	p.write("good/b/kv.py", "exit")
	_, results := p.execute(t.Context(), graph.Options{})
	if c := results.Cells[0].Checkpoints[1]; c.Passed || c.Class != verdict.NoReport {
		t.Errorf("%+v", c)
	}
}
