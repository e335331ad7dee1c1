package scbench

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func TestNoInfinity(t *testing.T) {
	// Python would write Infinity, which no reader of JSON has to know.
	for _, f := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		if got, err := encode(float(f), ""); err == nil {
			t.Errorf("%g is written as %s", f, got)
		}
	}
}

// Python 3.11's json.dumps writes the texts below for the same data.
func TestEvaluationIsWhatPythonWrites(t *testing.T) {
	code := 1
	c := &Checkpoint{
		Problem: "tally", ProblemVersion: 2, CheckpointVersion: 1, Order: 2, Entry: "python tally.py",
		Result: report.Checkpoint{
			Name: "checkpoint_2", ExitCode: &code, Collected: 5, DurationMS: 1500,
			Tests: []report.Test{
				{Test: verdict.Test{ID: "test_old", Checkpoint: "checkpoint_1", Group: verdict.Regression, Status: verdict.TestPassed}},
				{Test: verdict.Test{ID: "test_new[<é😀>]", Checkpoint: "checkpoint_2", Group: verdict.Core, Status: verdict.TestFailed}},
				{Test: verdict.Test{ID: "test_skip", Checkpoint: "checkpoint_2", Group: verdict.Core, Status: verdict.TestSkipped}},
				{Test: verdict.Test{ID: "test_set_up", Checkpoint: "checkpoint_2", Group: verdict.ErrorGroup, Status: verdict.TestError}},
				{Test: verdict.Test{ID: "test_b", Checkpoint: "checkpoint_2", Group: verdict.Core, Status: verdict.TestPassed}},
			},
		},
	}
	const want = `{
  "schema_version": 1,
  "problem_name": "tally",
  "problem_version": 2,
  "checkpoint_name": "checkpoint_2",
  "checkpoint_version": 1,
  "duration": 1.5,
  "entrypoint": "python tally.py",
  "tests": {
    "checkpoint_1-Regression": {
      "passed": [
        "test_old"
      ],
      "failed": []
    },
    "checkpoint_2-Core": {
      "passed": [
        "test_b"
      ],
      "failed": [
        "test_new[<\u00e9\ud83d\ude00>]",
        "test_skip"
      ]
    },
    "checkpoint_2-Error": {
      "passed": [],
      "failed": [
        "test_set_up"
      ]
    }
  },
  "pass_counts": {
    "Regression": 1,
    "Core": 1
  },
  "total_counts": {
    "Regression": 1,
    "Core": 3,
    "Error": 1
  },
  "pytest_exit_code": 1,
  "pytest_collected": 5,
  "infrastructure_failure": false
}`
	got, err := Evaluation(c)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}

// graded returns a judged checkpoint whose tests are written as P for a passed test and F for any other: "core=PPF
// regression=P".
func graded(name string, tests string) *Checkpoint {
	c := &Checkpoint{ProblemVersion: 1, CheckpointVersion: 1, Order: 1, Entry: "python x.py", Result: report.Checkpoint{Name: name, ExitCode: new(int), Groups: verdict.GroupCounts{}}}
	for part := range strings.FieldsSeq(tests) {
		group, marks, _ := strings.Cut(part, "=")
		g := verdict.Group(group)
		for i, mark := range marks {
			count, status := c.Result.Groups[g], verdict.TestFailed
			count.Total++
			if mark == 'P' {
				count.Passed++
				status = verdict.TestPassed
			}
			c.Result.Groups[g] = count
			c.Result.Tests = append(c.Result.Tests, report.Test{Test: verdict.Test{ID: fmt.Sprintf("test_%s_%d", group, i), Checkpoint: name, Group: g, Status: status}})
		}
	}
	return c
}

// unjudged returns a checkpoint that pytest never ran for.
func unjudged(name string) *Checkpoint {
	return &Checkpoint{ProblemVersion: 1, Order: 1, Result: report.Checkpoint{Name: name, Class: verdict.NotJudged}}
}

func TestRowsHaveRates(t *testing.T) {
	c := graded("checkpoint_1", "core=PF regression=PPP error=P")
	c.First, c.Result.DurationMS = true, 250
	empty := graded("checkpoint_2", "")
	empty.Order = 2
	broken := unjudged("checkpoint_3")
	broken.Order, broken.Last = 3, true
	got, err := Rows([]Problem{{Name: "tally", Path: "tally", Checkpoints: []*Checkpoint{c, empty, broken}}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"problem": "tally", "version": 1, "checkpoint": "checkpoint_1", "path": "tally", "idx": 1, "state": "ran", "is_first": true, "is_last": false, "pass_rate": 0.8333333333333334, "core_pass_rate": 0.5, "checkpoint_pass_rate": 0.6666666666666666, "duration": 0.25, "total_tests": 6, "passed_tests": 5, "core_total": 2, "core_passed": 1, "functionality_total": 0, "functionality_passed": 0, "error_total": 1, "error_passed": 1, "regression_total": 3, "regression_passed": 3}
{"problem": "tally", "version": 1, "checkpoint": "checkpoint_2", "path": "tally", "idx": 2, "state": "ran", "is_first": false, "is_last": false, "duration": 0.0, "total_tests": 0, "passed_tests": 0, "core_total": 0, "core_passed": 0, "functionality_total": 0, "functionality_passed": 0, "error_total": 0, "error_passed": 0, "regression_total": 0, "regression_passed": 0}
{"problem": "tally", "version": 1, "checkpoint": "checkpoint_3", "path": "tally", "idx": 3, "state": "error", "is_first": false, "is_last": true}
`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}
