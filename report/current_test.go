package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// states returns results with verdicts in every state: one holds, and the others are out of date, or may be, or were
// never given.
func states() *Results {
	policy := string(verdict.AllCases)
	judged := func(name string, passed bool, state string) Checkpoint {
		status := verdict.TestPassed
		if !passed {
			status = verdict.TestFailed
		}
		c := Checkpoint{Name: name, Policy: policy, Class: verdict.Judged, Passed: passed, State: state, Groups: verdict.NoTestCounts(),
			Tests: []Test{{Test: verdict.Test{ID: "t", File: "test_" + name + ".py", Checkpoint: name, Group: verdict.Core, Status: status}}}}
		c.Groups.Add(verdict.Core, status)
		return c
	}
	why := "never judged"
	never := Checkpoint{Name: "checkpoint_1", Policy: policy, Class: verdict.NotRun, State: StateNew, Message: &why, Groups: verdict.NoTestCounts(), Tests: []Test{}}
	broken := Checkpoint{Name: "checkpoint_6", Policy: policy, Class: verdict.NotJudged, State: "broken", Message: &why, Groups: verdict.NoTestCounts(), Tests: []Test{}}
	r := &Results{Schema: Schema, Run: "now", Cells: []Cell{
		{Problem: "kv", Solution: "old", Backend: "local.host", Repeat: 1, Checkpoints: []Checkpoint{
			judged("checkpoint_1", true, ""), judged("checkpoint_2", true, "stale"), judged("checkpoint_3", true, StateUnknown),
			judged("checkpoint_4", false, "stale"), judged("checkpoint_5", true, "blocked"), broken,
		}},
		{Problem: "kv", Solution: "new", Backend: "local.host", Repeat: 1, Checkpoints: []Checkpoint{never}},
		{Problem: "other", Solution: "old", Backend: "local.host", Repeat: 1, Checkpoints: []Checkpoint{judged("checkpoint_1", true, "stale")}},
	}}
	for i := range r.Cells {
		r.Cells[i].SumUp()
	}
	return r
}

// A count, and a format that cannot mark verdicts, has a verdict that is out of date as none, with the reason.
func TestStaleVerdictsAreNone(t *testing.T) {
	r := states()
	if got, want := Summarize(r, nil).String(), "3 cells, 8 checkpoints: 1 passed, 1 broken, 1 new, 5 out of date"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, format := range []string{"junit", "junit-tests"} {
		var report junitReport
		if err := xml.Unmarshal(render(t, format, r, Options{}), &report); err != nil {
			t.Fatal(err)
		}
		if report.Tests != 8 || report.Failures != 0 || report.Errors != 1 || report.Skipped != 6 {
			t.Errorf("%s: %+v", format, report.junitCounts)
		}
	}
	var ctrf ctrfReport
	if err := json.Unmarshal(render(t, "ctrf", r, Options{}), &ctrf); err != nil {
		t.Fatal(err)
	}
	if s := ctrf.Results.Summary; s.Passed != 1 || s.Failed != 0 || s.Skipped != 6 || s.Other != 1 {
		t.Errorf("ctrf: %+v", s)
	}
	const none, unknown = "the last result is out of date: stale", "whether the last result still holds is unknown: unknown"
	for _, format := range []string{"junit", "junit-tests", "ctrf", "gitlab", "github"} {
		said := string(render(t, format, r, Options{}))
		for _, want := range []string{none, unknown, "never judged"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s lacks %q:\n%s", format, want, said)
			}
		}
	}
	if said := string(render(t, "github", r, Options{})); !strings.Contains(said, "## fevalgraph: 1 passed, 1 broken, 1 new, 5 out of date\n") {
		t.Errorf("github: %s", said)
	}
	var annotations bytes.Buffer
	if err := WriteAnnotations(&annotations, r, nil); err != nil || strings.Count(annotations.String(), none) != 3 {
		t.Errorf("annotations: %s, %v", annotations.String(), err)
	}
	m := MatrixOf(r.Current())
	for _, at := range [][2]string{{"kv", "old"}, {"kv", "new"}, {"other", "old"}} {
		if p := m.Pair(at[0], at[1]); p == nil || p.Missing != 1 {
			t.Errorf("matrix, %v: %+v", at, p)
		}
	}
	if said := string(render(t, "svg", r, Options{})); strings.Count(said, "no verdict") < 3 {
		t.Errorf("svg: %s", said)
	}
	var tests bytes.Buffer
	if err := WriteTests(&tests, "markdown", r, false, Options{}); err != nil || strings.Count(tests.String(), "| stale |") != 3 || strings.Count(tests.String(), "| new |") < 1 {
		t.Errorf("tests: %s, %v", tests.String(), err)
	}
	unsolved := 0
	for _, cell := range r.Unsolved().Cells {
		unsolved += len(cell.Checkpoints)
	}
	if unsolved != 7 {
		t.Errorf("%d are unsolved, want all but one", unsolved)
	}
	if err := Write(io.Discard, "csv", r, Options{}); err != nil || r.Cells[0].Checkpoints[1].Class != verdict.Judged {
		t.Errorf("the results were changed: %v", err)
	}
}

// Cells that were never judged are in the sums, as what is not judged.
func TestNeverJudgedInSums(t *testing.T) {
	r := states()
	at := slices.IndexFunc(SummarizeGroups(r, []string{"solution"}, nil), func(s GroupSummary) bool { return s.Group[0] == "new" })
	if at < 0 {
		t.Fatal("no row for the solution that was never judged")
	}
	if s := SummarizeGroups(r, []string{"solution"}, nil)[at]; s.Cells != 1 || s.Judged != 0 || s.Solved != 0 || s.Ruled != 1 {
		t.Errorf("%+v", s)
	}
	for _, one := range Rank(r, "solution", "solved").All {
		if one.Name == "new" && (one.Missing != 1 || one.Attempts != 0) {
			t.Errorf("%+v", one)
		}
	}
	table := string(render(t, "table", r, Options{}))
	for _, line := range strings.Split(table, "\n") {
		if strings.Contains(line, " new ") && !strings.Contains(line, "never judged") {
			t.Error(line)
		}
	}
	if !strings.Contains(table, "\n4 verdicts are out of date") || !strings.Contains(table, "\nwhether 2 verdicts still hold is unknown") {
		t.Error(table)
	}
}
