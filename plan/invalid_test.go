package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

const invalidProblems = `
problem "bad" {
  invalid = "report"
  entry   = "python kv.py"
  tags    = ["cli"]
  title   = 1 + "x"
  pytest { root = "nowhere" }
  checkpoint "a" {}
}
problem "unanswered" {
  invalid = "report"
  precondition {
    condition     = false
    error_message = "It is not ready."
  }
}
solution "bad" {
  problem = problem.bad
  source  = "absent"
  labels  = { size = "large" }
}
`

// TestInvalid: an invalid problem has one node, which fails with all errors; its cells have a result without a
// checkpoint, and no other node is affected.
func TestInvalid(t *testing.T) {
	p := newProject(t, problem+invalidProblems)
	var addrs []string
	for id := range graph.ID(p.plan.Graph.Len()) {
		if n := p.plan.Graph.Node(id); n.Kind == KindProblem || n.Label("problem") == "bad" {
			addrs = append(addrs, n.Addr)
		}
	}
	if want := []string{"problem:bad", "problem:unanswered", "aggregate:bad/bad@local.one"}; !slices.Equal(addrs, want) {
		t.Errorf("nodes %q, want %q", addrs, want)
	}
	for range 2 { // it is not cached
		r, results := p.execute(t.Context(), graph.Options{})
		if r.InputErrors != 2 || r.Failed != 2 || r.Blocked != 1 || r.Broken != 0 {
			t.Errorf("%d input errors, %d failed, %d blocked, %d broken", r.InputErrors, r.Failed, r.Blocked, r.Broken)
		}
		id, _ := p.plan.Graph.Lookup("problem:bad")
		st := r.Status(id)
		lines := strings.Split(st.Message, "\n")
		if st.State != event.Failed || !st.Input || len(lines) != 2 || !strings.Contains(lines[0], "Invalid operand") || !strings.Contains(lines[1], `"nowhere" not found.`) {
			t.Errorf("%+v", st)
		}
		if i := slices.IndexFunc(results.Cells, func(c report.Cell) bool { return c.Problem == "bad" }); i != 0 {
			t.Fatalf("%q", formatResults(results))
		}
		cell := results.Cells[0]
		if cell.Status != verdict.Error || len(cell.Checkpoints) != 0 || cell.Labels["size"] != "large" ||
			cell.Message == nil || *cell.Message != p.plan.Cells[2].Problem.Invalid.Error() || !strings.HasPrefix(*cell.Message, "fevalgraph.hcl:") {
			t.Errorf("%+v", cell)
		}
		if got := formatResults(results); got[1] != "good local.one success; a judged passed core 1/1; b judged passed core 1/1 regression 1/1" {
			t.Errorf("%q", got)
		}
		if s := report.Summarize(results, nil); s.Errored != 1 || s.Exit != 1 {
			t.Errorf("%+v", s)
		}
	}
	if got := len(p.boxes["local.one"].tested); got != 3 {
		t.Errorf("%d sessions, want those of the other problem", got)
	}
	// Parts that do not select it do not contain it.
	r, results := p.execute(t.Context(), graph.Options{}, p.plan.Cells[0].Targets()...)
	if r.InputErrors != 0 || len(results.Cells) != 1 {
		t.Errorf("%d input errors, %q", r.InputErrors, formatResults(results))
	}
}

// TestInvalidInLeaderboards: no checkpoints are not checkpoints that passed.
func TestInvalidInLeaderboards(t *testing.T) {
	p := newProject(t, problem+invalidProblems+`
suite "all" {}
result "board" {
  from     = suite.all
  group_by = ["problem", "solution"]
  metric "solved" { value = alltrue([for c in self.checkpoints : c.passed]) }
  metric "errors" { value = self.cells_error }
}`)
	_, results := p.execute(t.Context(), graph.Options{})
	boards, err := p.plan.Leaderboards(results)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{{"bad", "bad", "-", "1", "0 of 1"}, {"kv", "good", "true", "0", "1 of 1"}, {"kv", "half", "false", "0", "1 of 1"}}
	if !slices.EqualFunc(boards[0].Rows, want, slices.Equal[[]string]) {
		t.Errorf("%q", boards[0].Rows)
	}
}

// TestInvalidLock: requirements of an invalid problem are ignored.
func TestInvalidLock(t *testing.T) {
	p := newProject(t, problem+invalidProblems)
	if err := p.plan.LockAll(t.Context()); err != nil {
		t.Error(err)
	}
}
