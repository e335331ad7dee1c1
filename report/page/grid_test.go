package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Only failures of groups that the policy looks at matter.
func TestScope(t *testing.T) {
	for policy, want := range map[verdict.Policy]string{verdict.StrictCoreCases: "core", verdict.AllNonErrorCases: "core functionality regression", verdict.AnyCase: "core functionality regression error"} {
		if got := scopeOf(string(policy)); got != want {
			t.Errorf("%s looks at %q, want %q", policy, got, want)
		}
	}
}

func TestGrids(t *testing.T) {
	cell := func(solution, states string) *report.Cell {
		c := report.Checkpoint{Name: "one"}
		for i, s := range states {
			status := map[rune]verdict.TestStatus{'p': verdict.TestPassed, 'f': verdict.TestFailed, 'e': verdict.TestError, 's': verdict.TestSkipped}[s]
			c.Tests = append(c.Tests, report.Test{Test: verdict.Test{ID: string(rune('a' + i)), File: "t.py", Group: verdict.Core, Status: status}})
		}
		return &report.Cell{Problem: "p", Solution: solution, Checkpoints: []report.Checkpoint{c}}
	}
	g := gridsOf([]*report.Cell{cell("bad", "pfffs"), cell("good", "ppfps"), cell("good", "ppeps"), cell("odd", "pp"), cell("odd", "pf"), {Problem: "p", Solution: "broken"}},
		[]string{"good", "elsewhere", "odd", "bad", "broken"})["p"]
	test := func(id, states string, passed, judged int, kind string) gridTest {
		return gridTest{Checkpoint: "one", File: "t.py", ID: id, Group: "core", States: states, Passed: passed, Judged: judged, Kind: kind}
	}
	want := &grid{Solutions: []string{"good", "odd", "bad", "broken"}, Tests: []gridTest{
		test("a", "ppp-", 3, 3, "all"), test("b", "pxf-", 1, 3, "flaky"), test("c", "f-f-", 0, 2, "none"), test("d", "p-f-", 1, 2, "separates"), test("e", "s-s-", 0, 0, ""),
	}}
	if diff := cmp.Diff(want, g); diff != "" {
		t.Error(diff)
	}
}
