package report

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

func ptr[T any](v T) *T { return &v }

// test makes a test of 12.5 ms; without a message if that is "".
func test(id string, g verdict.Group, s verdict.TestStatus, message string) Test {
	t := Test{Test: verdict.Test{ID: id, File: "tests/test_checkpoint_1.py", Checkpoint: "checkpoint_1", Group: g, Status: s}, DurationMS: 12.5}
	if message != "" {
		t.Message = &message
	}
	return t
}

// checkpoint counts tests into groups as tasks does.
func checkpoint(name string, class verdict.Class, passed bool, tests ...Test) Checkpoint {
	c := Checkpoint{Name: name, Class: class, Passed: passed, Policy: string(verdict.DefaultPolicy), Collected: len(tests), Groups: verdict.GroupCounts{}, Tests: tests}
	for _, g := range verdict.Groups {
		c.Groups[g] = verdict.Count{}
	}
	for _, t := range tests {
		n := c.Groups[t.Group]
		n.Total++
		if t.Status == verdict.TestPassed {
			n.Passed++
		}
		c.Groups[t.Group] = n
		c.DurationMS += t.DurationMS
	}
	if class == verdict.Judged {
		c.ExitCode = ptr(0)
		if !passed {
			c.ExitCode = ptr(1)
		}
	}
	return c
}

// nasty is the output of a hostile or unlucky test.
const nasty = "naïve 🙂 日本\nline \"two\", | <b>&amp;</b> `x`\r\n\x1b[31mred\x1b[0m\x00nul\u202egnp.exe ]]> \xff end"

// mixed has a cell of every status and a checkpoint of most classes.
func mixed() *Results {
	broken := checkpoint("checkpoint_1", verdict.NotJudged, false)
	broken.Message = ptr("starting uvx: connection refused")
	collection := checkpoint("checkpoint_2", verdict.CollectionError, false)
	collection.ExitCode, collection.InfrastructureFailure = ptr(2), true
	collection.Message = ptr("\nImportError: no module named kv\n  more")
	noCore := checkpoint("checkpoint_3", verdict.Judged, false, test("test_alone", verdict.Functionality, verdict.TestPassed, ""))
	noCore.ExitCode = ptr(0)
	return &Results{Schema: Schema, Run: "20260102-030405-abcd", Cells: []Cell{
		{
			Problem: "kvstore", Solution: "reference", Backend: "local.host", Repeat: 1, Suites: []string{"nightly"},
			Labels: map[string]string{"model": "none", "a<b": "c&d"}, Status: verdict.Success, Score: ptr(1.0),
			Checkpoints: []Checkpoint{
				checkpoint("checkpoint_1", verdict.Judged, true,
					test("test_get[empty]", verdict.Core, verdict.TestPassed, ""),
					test("test_slow", verdict.Functionality, verdict.TestSkipped, "needs a network"),
					test("TestErrors::test_bad_key", verdict.ErrorGroup, verdict.TestPassed, "")),
				checkpoint("checkpoint_2", verdict.Judged, true, test("test_put", verdict.Core, verdict.TestPassed, "")),
			},
		},
		{
			Problem: "kvstore", Solution: `agent["small"]`, Backend: "docker.py312", Repeat: 1, Status: verdict.Error, Score: ptr(0.0),
			Message: ptr("checkpoint_2 could not be collected"),
			Checkpoints: []Checkpoint{
				checkpoint("checkpoint_1", verdict.Judged, false,
					test("test_regression", verdict.Regression, verdict.TestFailed, "old"),
					test("test_get[a|b]", verdict.Core, verdict.TestFailed, nasty),
					test("test_setup", verdict.Core, verdict.TestError, "fixture 'kv' not found")),
				collection,
				noCore,
			},
		},
		{Problem: "kvstore", Solution: `agent["small"]`, Backend: "docker.py312", Repeat: 2, Status: verdict.Broken, Checkpoints: []Checkpoint{broken}},
		{Problem: "logs", Solution: "late", Backend: "local.host", Repeat: 1, Status: verdict.Skipped,
			Checkpoints: []Checkpoint{checkpoint("checkpoint_1", verdict.NotRun, false)}},
		{Problem: "logs", Solution: "lost", Backend: "local.host", Repeat: 1, Status: verdict.Broken, Message: ptr("image not found")},
	}}
}

// scored has cells of problems with scores: full and partial marks, more than full ones, none, a failed checker, and no
// code to judge.
func scored() *Results {
	one := func(id, said string, ratio, unbounded float64, message string) Test {
		t := test(id, verdict.Core, verdict.TestFailed, message)
		t.File, t.Checkpoint, t.Verdict, t.Ratio, t.RatioUnbounded = "testdata/"+id+".in", "", said, &ratio, &unbounded
		t.CPUMS, t.MemoryBytes = ptr(1.8564), ptr(int64(524288))
		if ratio == 1 {
			t.Status = verdict.TestPassed
		}
		return t
	}
	lost := test("2", verdict.Core, verdict.TestError, "checker failed: exit status 3: expected '{'")
	lost.Verdict, lost.Checkpoint = "checker failed", ""
	cell := func(solution string, class verdict.Class, score, unbounded *float64, message string, tests ...Test) Cell {
		c := checkpoint("", class, class == verdict.Judged, tests...)
		c.Policy, c.ExitCode, c.Score, c.ScoreUnbounded = string(verdict.AnyJudged), nil, score, unbounded
		out := Cell{Problem: "sum", Solution: solution, Backend: "gojudge.box", Repeat: 1, Status: class.Status(), Score: score, ScoreUnbounded: unbounded}
		if message != "" {
			c.Message, out.Message = &message, &message
		}
		out.Checkpoints = []Checkpoint{c}
		return out
	}
	return &Results{Schema: Schema, Run: "20260102-030405-abcd", Cells: []Cell{
		cell("best", verdict.Judged, ptr(100.0), ptr(7750.0), "", one("1", "AC", 1, 77.5, "")),
		cell("broken", verdict.CheckerFailed, nil, nil, "case 2: checker failed: exit status 3", one("1", "AC", 1, 1, ""), lost),
		cell("failed", verdict.NoSubmission, ptr(0.0), ptr(0.0), "the model gave no answer"),
		cell("half", verdict.Judged, ptr(33.266666666666666), ptr(33.266666666666666), "", one("1", "points", 0.998, 0.998, "points 0.998 | near"), one("2", "TLE", 0, 0, ""), one("3", "WA", 0, 0, "wrong")),
		cell("nearly", verdict.Judged, ptr(99.99999999999999), ptr(99.99999999999999), "", one("1", "points", 0.9999999999999999, 0.9999999999999999, "")),
		cell("syntax", verdict.CompileError, nil, nil, "main.cpp:1:1: error: 'x' does not name a type"),
		cell("wrong", verdict.Judged, ptr(0.0), ptr(0.0), "", one("1", "WA", 0, 0, "wrong")),
	}}
}

// many has n cells of three checkpoints.
func many(n int) *Results {
	r := &Results{Schema: Schema, Run: "many"}
	for i := range n {
		cell := Cell{Problem: fmt.Sprintf("p%d", i/4), Solution: fmt.Sprintf("s%d", i%4), Backend: "local.host", Repeat: 1, Status: verdict.Success}
		for j := range 3 {
			passed := i%5 != j
			status := verdict.TestPassed
			if !passed {
				status = verdict.TestFailed
			}
			cell.Checkpoints = append(cell.Checkpoints, checkpoint(fmt.Sprintf("checkpoint_%d", j+1), verdict.Judged, passed,
				test("test_a", verdict.Core, status, ""), test("test_b", verdict.Functionality, verdict.TestPassed, "")))
		}
		r.Cells = append(r.Cells, cell)
	}
	return r
}

// megabyte returns a message without a line end.
func megabyte() string { return strings.Repeat("x\x00é", 1<<18) }
