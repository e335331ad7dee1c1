package pytest

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// A file, directory or class that is skipped while pytest collects counts as a skipped test, so that what a
// submission lacks does not remove tests from the count.
func TestSkippedCollectors(t *testing.T) {
	const why = "Skipped: no --json"
	for _, try := range []struct {
		name, collector string
		file, id        string
		group           verdict.Group
	}{
		{"the checkpoint's file", "tests/test_checkpoint_2.py", "tests/test_checkpoint_2.py", "(collection)", verdict.Core},
		{"another checkpoint's file", "tests/test_checkpoint_1.py", "tests/test_checkpoint_1.py", "(collection)", verdict.Regression},
		{"another file", "tests/good.py", "tests/good.py", "(collection)", verdict.Core},
		{"a directory", "tests/sub", "tests/sub", "(collection)", verdict.Core},
		{"a class", current + "::TestIt", current, "TestIt", verdict.Core},
	} {
		v, m := parse.judge(runOutput{stages: collectors("skipped", try.collector, why, encode(0, one{id: current + "::t"}))})
		want := verdict.Test{ID: try.id, File: try.file, Checkpoint: parse.checkpointOf(try.file), Group: try.group, Status: verdict.TestSkipped}
		if v.Class != verdict.Judged || len(v.Tests) != 2 || v.Tests[1] != want || m.Tests[1].Message != "skipped as a whole: no --json" {
			t.Errorf("%s: %s, %+v, %+v", try.name, v.Class, v.Tests, m.Tests)
		}
		if err := verdict.Grade(&v, verdict.AllCases); err != nil || v.Passed {
			t.Errorf("%s: passed by all-cases, %v", try.name, err)
		}
	}
	all := runOutput{exit: exitFacts{Exit: session.Exit{Code: exitNoTests}}, stages: collectors("skipped", current, why, encode(exitNoTests))}
	if v, m := parse.judge(all); v.Class != verdict.NoTests || m.Message != "pytest found no tests: "+current+" was skipped as a whole: no --json" {
		t.Errorf("all are skipped: %s, %q", v.Class, m.Message)
	}
}

// A limit ended a test if it ended each stage that failed.
func TestEndedByLimit(t *testing.T) {
	for stages, want := range map[string]string{
		"setup call!":           verdict.TestTimeout,
		"setup call! teardown!": verdict.TestTimeout,
		"setup call! teardown?": "",
		"setup call?":           "",
		"setup! teardown":       verdict.TestTimeout,
		"setup subtest? call!":  "",
		"setup call teardown":   "",
	} {
		var test reportedTest
		for stage := range strings.FieldsSeq(stages) {
			l := line{Stage: strings.TrimRight(stage, "!?"), Outcome: "passed", Timeout: strings.HasSuffix(stage, "!")}
			if strings.ContainsAny(stage, "!?") {
				l.Outcome = "failed"
			}
			test.add(&l)
		}
		if test.conclude(); test.Verdict != want {
			t.Errorf("%s: %q, want %q", stages, test.Verdict, want)
		}
	}
}
