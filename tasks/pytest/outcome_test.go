package pytest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// phases returns a test of a synthetic report with the phases that it went through,
// as pytest-json-report puts them: "setup=passed call=failed teardown=passed".
func phases(code int, outcome, went string) []byte {
	test := map[string]any{"nodeid": current + "::t", "outcome": outcome}
	for phase := range strings.FieldsSeq(went) {
		name, ended, _ := strings.Cut(phase, "=")
		test[name] = map[string]any{"duration": 0.5, "outcome": ended}
	}
	b, err := json.Marshal(map[string]any{"exitcode": code, "tests": []any{test}})
	if err != nil {
		panic(err)
	}
	return b
}

// A skipped test has a reason: as pytest writes it, or as a plugin does.
func TestSkipReasons(t *testing.T) {
	for said, want := range map[string]string{
		`('/w/tests/test_a.py', 12, 'Skipped: needs a redis-server')`: "needs a redis-server",
		`('/w/tests/test_a.py', 12, "Skipped: there's none")`:         "there's none",
		"reason: for another checkpoint":                              "reason: for another checkpoint",
		"":                                                            "",
	} {
		for _, phase := range []string{"setup", "call"} {
			stages := map[string]any{"setup": map[string]any{"outcome": "passed"}}
			stages[phase] = map[string]any{"outcome": "skipped", "longrepr": said}
			stages["nodeid"], stages["outcome"] = current+"::t", "skipped"
			report, err := json.Marshal(map[string]any{"exitcode": 0, "tests": []any{stages}})
			if err != nil {
				t.Fatal(err)
			}
			_, m := parse.judge(runOutput{report: report, log: collected(1)})
			if len(m.Tests) != 1 || m.Tests[0].Message != want {
				t.Errorf("%s: %+v, want %q", said, m.Tests, want)
			}
		}
	}
}

// withCollectors returns a report with collectors that did not pass.
func withCollectors(report []byte, failed []map[string]any, collected int) []byte {
	var all map[string]any
	if err := json.Unmarshal(report, &all); err != nil {
		panic(err)
	}
	all["collectors"], all["summary"] = failed, map[string]any{"collected": collected}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return b
}

// A file, directory or class that is skipped while pytest collects counts as a skipped test, so that what a
// submission lacks does not remove tests from the count.
func TestSkippedCollectors(t *testing.T) {
	collector := func(nodeid, why string) map[string]any {
		return map[string]any{"nodeid": nodeid, "outcome": "skipped", "longrepr": "('/w/" + nodeid + "', 7, 'Skipped: " + why + "')"}
	}
	passed := one{id: current + "::t", outcome: "passed"}
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
		left := runOutput{report: withCollectors(encodeJSON(0, passed), []map[string]any{collector(try.collector, "no --json")}, 1), log: append(collected(1), "=== 1 passed, 1 skipped in 0.01s ===\n"...)}
		v, m := parse.judge(left)
		want := verdict.Test{ID: try.id, File: try.file, Checkpoint: parse.checkpointOf(try.file), Group: try.group, Status: verdict.TestSkipped}
		if v.Class != verdict.Judged || len(v.Tests) != 2 || v.Tests[1] != want || m.Tests[1].Message != "skipped as a whole: no --json" {
			t.Errorf("%s: %s, %+v, %+v", try.name, v.Class, v.Tests, m.Tests)
		}
		if err := verdict.Grade(&v, verdict.AllCases); err != nil || v.Passed {
			t.Errorf("%s: passed by all-cases, %v", try.name, err)
		}
	}
	all := runOutput{exit: exitFacts{Exit: session.Exit{Code: exitNoTests}}, report: withCollectors(encodeJSON(exitNoTests), []map[string]any{collector(current, "no --json")}, 0), log: collected(0)}
	if v, m := parse.judge(all); v.Class != verdict.NoTests || m.Message != "pytest found no tests: "+current+" was skipped as a whole: no --json" {
		t.Errorf("all are skipped: %s, %q", v.Class, m.Message)
	}
}

// pytest-json-report's outcome is that of the last phase that did not pass, so the call alone does not decide.
func TestOutcomeOfPhases(t *testing.T) {
	for _, try := range []struct {
		name, outcome, went string
		want                verdict.TestStatus
	}{
		{"pass", "passed", "setup=passed call=passed teardown=passed", verdict.TestPassed},
		{"assertion", "failed", "setup=passed call=failed teardown=passed", verdict.TestFailed},
		{"set-up raises", "error", "setup=failed teardown=passed", verdict.TestError},
		{"teardown raises after a pass", "error", "setup=passed call=passed teardown=failed", verdict.TestError},
		{"teardown raises after a failure", "error", "setup=passed call=failed teardown=failed", verdict.TestError},
		{"skip in the test", "skipped", "setup=passed call=skipped teardown=passed", verdict.TestSkipped},
		{"skip mark, and no parameters", "skipped", "setup=skipped teardown=passed", verdict.TestSkipped},
		{"expected failure", "xfailed", "setup=passed call=skipped teardown=passed", verdict.TestSkipped},
		{"expected failure of the set-up", "xfailed", "setup=skipped teardown=passed", verdict.TestSkipped},
		{"unexpected pass", "xpassed", "setup=passed call=passed teardown=passed", verdict.TestPassed},
		{"strict unexpected pass", "failed", "setup=passed call=failed teardown=passed", verdict.TestFailed},
		{"a plugin's word for a failure", "broken", "setup=passed call=failed teardown=passed", verdict.TestFailed},
		{"a plugin's word for an error", "broken", "setup=passed call=passed teardown=failed", verdict.TestError},
		{"a plugin's word for a skip", "left out", "setup=passed call=skipped teardown=passed", verdict.TestSkipped},
		{"a plugin's word for a pass", "splendid", "setup=passed call=passed teardown=passed", verdict.TestPassed},
		{"a plugin's word, cut off", "splendid", "setup=passed call=passed", verdict.TestError},
		// A test without a known end is passed for SlopCodeBench's runner.
		{"cut off in the set-up", "passed", "setup=passed", verdict.TestError},
		{"cut off in the call", "passed", "setup=passed teardown=passed", verdict.TestError},
		{"cut off in the teardown", "passed", "setup=passed call=passed", verdict.TestError},
	} {
		code := exitOK
		if try.want == verdict.TestFailed || try.want == verdict.TestError {
			code = exitTestsFailed
		}
		v, m := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: code}}, report: phases(code, try.outcome, try.went), log: collected(1)})
		if len(v.Tests) != 1 || v.Tests[0].Status != try.want {
			t.Errorf("%s: %+v, want %s", try.name, v.Tests, try.want)
		}
		if took := float64(500 * strings.Count(try.went, "=")); m.Tests[0].DurationMS != took {
			t.Errorf("%s: took %v ms, want %v", try.name, m.Tests[0].DurationMS, took)
		}
	}
}

// A limit ended a test if it ended each stage that failed.
func TestEndedByLimit(t *testing.T) {
	const limit, wrong = "Failed: Timeout (>3.0s) from pytest-timeout.", "AssertionError: Timeout (>3.0s)"
	for _, c := range []struct{ call, teardown, want string }{
		{limit, "", verdict.TestTimeout},
		{"Failed: Timeout >3.0s", "", verdict.TestTimeout}, // earlier versions
		{limit, limit, verdict.TestTimeout},
		{limit, wrong, ""},
		{wrong, "", ""},
		{"", limit, verdict.TestTimeout},
		{"", "", ""},
	} {
		at := func(message string) *stage {
			if message == "" {
				return &stage{Outcome: "passed"}
			}
			return &stage{Outcome: "failed", Crash: &crash{Message: message}}
		}
		test := jsonTest{NodeID: current + "::t", Outcome: "failed", Setup: at(""), Call: at(c.call), Teardown: at(c.teardown)}
		if got := test.observed().Verdict; got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.call, c.teardown, got, c.want)
		}
	}
}
