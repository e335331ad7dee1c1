package validate

import (
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Differences between repeats are listed with their counts; repeats without a verdict are ignored.
func TestDifferences(t *testing.T) {
	judged := func(score float64, cases ...string) *report.Cell {
		c := report.Checkpoint{Class: verdict.Judged, Score: &score}
		for i, word := range cases {
			c.Tests = append(c.Tests, report.Test{Test: verdict.Test{ID: string(rune('1' + i)), Status: verdict.TestFailed, Verdict: word}})
		}
		return &report.Cell{Status: verdict.Success, Score: &score, Checkpoints: []report.Checkpoint{c}}
	}
	of := func(status verdict.Status, class verdict.Class) *report.Cell {
		return &report.Cell{Status: status, Checkpoints: []report.Checkpoint{{Name: "one", Class: class}}}
	}
	twice := &report.Cell{Status: verdict.Success, Checkpoints: []report.Checkpoint{{Name: "one", Class: verdict.Judged, Tests: []report.Test{
		{Test: verdict.Test{ID: "test_x", File: "tests/test_one.py", Status: verdict.TestPassed}}, {Test: verdict.Test{ID: "test_x", File: "tests/test_two.py", Status: verdict.TestFailed}}}}}}
	for _, c := range []struct {
		name    string
		repeats []*report.Cell
		want    []string
	}{
		{"none", nil, nil},
		{"equal", []*report.Cell{judged(50, "AC", "WA"), judged(50, "AC", "WA")}, nil},
		{"tests of one name", []*report.Cell{twice, twice}, nil},
		{"a case", []*report.Cell{judged(100, "AC", "AC"), judged(50, "AC", "TLE"), judged(100, "AC", "AC")},
			[]string{"score 100 in 2, score 50 in 1", "2: AC in 2, TLE in 1"}},
		{"a case that is not there", []*report.Cell{judged(50, "AC"), judged(50, "AC", "WA")}, []string{"2: WA in 1, absent in 1"}},
		{"a limit", []*report.Cell{of(verdict.TimedOut, verdict.SessionTimeout), of(verdict.Success, verdict.Judged)},
			[]string{"one: failed in 1, timeout in 1"}},
		{"a machine's fault", []*report.Cell{of(verdict.Broken, verdict.NotJudged), of(verdict.Success, verdict.Judged), of(verdict.Skipped, verdict.NotRun)}, nil},
	} {
		if got := differences(c.repeats); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
