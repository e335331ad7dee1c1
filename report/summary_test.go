package report

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// A vacuous pass is marked in every view.
func TestVacuousPassIsShown(t *testing.T) {
	bare := checkpoint("b", verdict.Judged, true, test("t", verdict.Regression, verdict.TestPassed, ""))
	r := &Results{Cells: []Cell{{Problem: "p", Status: verdict.Success, Checkpoints: []Checkpoint{checkpoint("a", verdict.Judged, true, test("t", verdict.Core, verdict.TestPassed, "")), bare}}}}
	for p, want := range map[verdict.Policy]string{
		verdict.CoreCases:              "passes core-cases with no core tests",
		verdict.AllCoreCases:           "passes all-core-cases with no core tests",
		verdict.AllNonErrorCases:       "",
		verdict.StrictCoreCases:        "",
		verdict.AnyJudged:              "",
		verdict.StrictAllNonErrorCases: "",
	} {
		under := r.Under(p)
		if got := under.Cells[0].Checkpoints[1].Caveat(); got != want {
			t.Errorf("%s: caveat %q, want %q", p, got, want)
		}
		if got := under.Cells[0].Checkpoints[0].Caveat(); got != "" {
			t.Errorf("%s: caveat %q of a checkpoint with core tests", p, got)
		}
		vacuous := 0
		if want != "" {
			vacuous = 1
		}
		if s := Summarize(under, nil); s.Vacuous != vacuous || Summarize(r, &p).Vacuous != vacuous {
			t.Errorf("%s: %+v", p, s)
		}
		for _, format := range []string{"table", "markdown", "csv", "junit"} {
			var b strings.Builder
			if err := Write(&b, format, under, Options{}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(b.String(), "with no core tests"); got != (want != "") {
				t.Errorf("%s under %s: %t\n%s", format, p, got, b.String())
			}
		}
	}
	empty := &Checkpoint{Class: verdict.Judged, Passed: true, Vacuous: true, Policy: string(verdict.AllCases)}
	if got := empty.Caveat(); got != "passes all-cases with no tests" {
		t.Errorf("caveat %q", got)
	}
	empty.Policy = string(verdict.AllNonErrorCases)
	if got := empty.Caveat(); got != "passes all-non-error-cases with no tests outside of the error group" {
		t.Errorf("caveat %q", got)
	}
	empty.Class = verdict.Killed
	if got := empty.Caveat(); got != "" {
		t.Errorf("caveat %q of what was not judged", got)
	}
	if got := Summarize(r.Under(verdict.CoreCases), nil).String(); got != "1 cell, 2 checkpoints: 2 passed (1 vacuously)" {
		t.Error(got)
	}
}

// The row of a cell has the note in a table of many cells, too.
func TestVacuousPassIsShownForCells(t *testing.T) {
	r := &Results{}
	for range manyRows + 1 {
		r.Cells = append(r.Cells, Cell{Problem: "p", Status: verdict.Success, Checkpoints: []Checkpoint{checkpoint("a", verdict.Judged, true, test("t", verdict.Regression, verdict.TestPassed, ""))}})
	}
	var b strings.Builder
	if err := Write(&b, "table", r.Under(verdict.CoreCases), Options{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "a passes core-cases with no core tests"); got != manyRows+1 {
		t.Errorf("%d rows show it:\n%s", got, b.String())
	}
}

func TestWhatWasNotJudgedCountsAsNotPassed(t *testing.T) {
	for _, class := range []verdict.Class{"", verdict.CollectionError, verdict.NoTests, verdict.NoReport, verdict.Killed, verdict.SessionTimeout, verdict.PytestFailed, verdict.InputError, verdict.NotJudged, verdict.NotRun, "later"} {
		c := &Checkpoint{Class: class, Passed: true, Groups: verdict.GroupCounts{verdict.Core: {Passed: 1, Total: 1}}}
		r := &Results{Cells: []Cell{{Status: verdict.Success, Checkpoints: []Checkpoint{*c}}}}
		if s := Summarize(r, nil); s.Passed != 0 || s.Exit == 0 {
			t.Errorf("class %q counts as passed: %+v", class, s)
		}
	}
}

func TestSummarize(t *testing.T) {
	pass := checkpoint("a", verdict.Judged, true, test("t", verdict.Core, verdict.TestPassed, ""))
	fail := checkpoint("b", verdict.Judged, false, test("t", verdict.Core, verdict.TestFailed, ""), test("u", verdict.Functionality, verdict.TestPassed, ""))
	killed, broken, skipped := checkpoint("c", verdict.Killed, false), checkpoint("d", verdict.NotJudged, false), checkpoint("e", verdict.NotRun, false)
	blocked := checkpoint("f", verdict.Blocked, false)
	lacking := skipped
	lacking.InfrastructureFailure = true
	for name, c := range map[string]struct {
		status verdict.Status
		in     []Checkpoint
		policy verdict.Policy
		want   Summary
		line   string
	}{
		"pass":                    {verdict.Success, []Checkpoint{pass}, "", Summary{Judged: 1, Passed: 1}, "1 cell, 1 checkpoint: 1 passed"},
		"fail":                    {verdict.Success, []Checkpoint{pass, fail}, "", Summary{Judged: 2, Passed: 1, Failed: 1, Exit: 1}, "1 cell, 2 checkpoints: 1 passed, 1 failed"},
		"looser":                  {verdict.Success, []Checkpoint{pass, fail}, verdict.AnyCase, Summary{Judged: 2, Passed: 2}, ""},
		"killed":                  {verdict.Error, []Checkpoint{pass, killed}, verdict.AnyJudged, Summary{Judged: 1, Passed: 1, NotJudged: 1, Errored: 1, Exit: 1}, ""},
		"broken":                  {verdict.Broken, []Checkpoint{broken, fail, skipped}, "", Summary{Judged: 1, Failed: 1, NotJudged: 2, Broken: 1, Skipped: 1, Exit: 3}, "1 cell, 3 checkpoints: 0 passed, 1 failed, 1 broken, 1 skipped"},
		"blocked":                 {verdict.Broken, []Checkpoint{broken, blocked, pass}, "", Summary{Judged: 1, Passed: 1, NotJudged: 2, Broken: 2, Blocked: 1, Exit: 3}, "1 cell, 3 checkpoints: 1 passed, 1 broken, 1 blocked"},
		"skipped":                 {verdict.Success, []Checkpoint{pass, skipped}, "", Summary{Judged: 1, Passed: 1, NotJudged: 1, Skipped: 1}, ""},
		"a device is lacking":     {verdict.Skipped, []Checkpoint{pass, lacking}, verdict.AnyJudged, Summary{Judged: 1, Passed: 1, NotJudged: 1, Skipped: 1, Exit: 3}, "1 cell, 2 checkpoints: 1 passed, 1 skipped"},
		"nothing":                 {verdict.Skipped, []Checkpoint{skipped}, "", Summary{NotJudged: 1, Skipped: 1, Exit: 1}, ""},
		"no checkpoints, broken":  {verdict.Broken, nil, "", Summary{NotJudged: 1, Broken: 1, Exit: 3}, "1 cell, 1 checkpoint: 0 passed, 1 broken"},
		"no checkpoints, timeout": {verdict.TimedOut, nil, "", Summary{NotJudged: 1, Errored: 1, Exit: 1}, ""},
	} {
		var policy *verdict.Policy
		if c.policy != "" {
			policy = &c.policy
		}
		c.want.Cells, c.want.Checkpoints = 1, max(len(c.in), 1)
		got := Summarize(&Results{Cells: []Cell{{Status: c.status, Checkpoints: c.in}}}, policy)
		if got != c.want {
			t.Errorf("%s: got %+v\nwant %+v", name, got, c.want)
		}
		if c.line != "" && got.String() != c.line {
			t.Errorf("%s: %q", name, got)
		}
	}
	if s := Summarize(&Results{}, nil); s != (Summary{}) {
		t.Errorf("nothing selected: %+v", s)
	}
}
