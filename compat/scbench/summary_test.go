package scbench

import (
	"strings"
	"testing"
)

// The numbers equal those of SlopCodeBench's reports for the same counts.
func TestSummary(t *testing.T) {
	problems := []Problem{
		{Name: "iso", Path: "iso", Checkpoints: []*Checkpoint{graded("a", "core=PP"), graded("b", "core=P regression=PF functionality=PP")}},
		{Name: "solved", Path: "solved", Checkpoints: []*Checkpoint{graded("a", "core=P error=P"), graded("b", "core=PPP functionality=P")}},
		{Name: "half", Path: "half", Checkpoints: []*Checkpoint{graded("a", "core=PP"), unjudged("b"), graded("c", "core=PPF error=FP")}},
		{Name: "poor", Path: "poor", Checkpoints: []*Checkpoint{graded("a", "core=FPFFFFF functionality=PPF error=FFFP"), graded("b", "core=P functionality=F regression=FFP")}},
	}
	const want = `{
  "num_problems": 4,
  "num_checkpoints": 9,
  "checkpoints_solved": 4,
  "checkpoints_iso_solved": 5,
  "checkpoints_core_solved": 6,
  "problem_solved": 1.0,
  "problem_partial": 3.0,
  "pct_checkpoints_solved": 44.44444444444444,
  "pct_checkpoints_iso_solved": 55.55555555555556,
  "pct_problems_solved": 25.0,
  "pct_problems_partial": 75.0,
  "pct_checkpoints_core_solved": 66.66666666666666,
  "pass_rates": {
    "problem": {
      "core": 0.8511904761904762,
      "total": 0.7607142857142857,
      "error": 0.4375,
      "functionality": 0.5833333333333334,
      "regression": 0.20833333333333331
    },
    "checkpoint": {
      "core": 0.8511904761904762,
      "total": 0.7607142857142857,
      "error": 0.5833333333333334,
      "functionality": 0.6666666666666666,
      "regression": 0.41666666666666663
    }
  }
}`
	got, err := Summary(problems)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

// Where SlopCodeBench divides by zero: a checkpoint without tests, or without tests for a rate, counts as a checkpoint,
// is not solved by that rate, and is excluded from means of rates over checkpoints. A problem without a checkpoint is
// ignored.
func TestSummaryWithoutTests(t *testing.T) {
	got, err := Summary([]Problem{
		{Name: "none"},
		{Name: "empty", Checkpoints: []*Checkpoint{graded("a", "")}},
		{Name: "bare", Checkpoints: []*Checkpoint{graded("a", "functionality=P"), graded("b", "regression=P")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "num_problems": 2,
  "num_checkpoints": 3,
  "checkpoints_solved": 2,
  "checkpoints_iso_solved": 1,
  "checkpoints_core_solved": 0,
  "problem_solved": 1.0,
  "problem_partial": 1.0,
  "pct_checkpoints_solved": 66.66666666666666,
  "pct_checkpoints_iso_solved": 33.33333333333333,
  "pct_problems_solved": 50.0,
  "pct_problems_partial": 50.0,
  "pct_checkpoints_core_solved": 0.0,
  "pass_rates": {
    "problem": {
      "core": 0.0,
      "total": 0.5,
      "error": 0.0,
      "functionality": 0.5,
      "regression": 0.5
    },
    "checkpoint": {
      "core": 0.0,
      "total": 1.0,
      "error": 0.0,
      "functionality": 1.0,
      "regression": 1.0
    }
  }
}`
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
	if got, err := Summary(nil); err != nil || !strings.Contains(string(got), `"pct_problems_solved": 0.0`) {
		t.Errorf("of nothing: %s, %v", got, err)
	}
}
