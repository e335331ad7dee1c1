package pytest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// pytestLog returns the log of a pytest that ended with some lines.
func pytestLog(last string) []byte {
	return []byte("============ test session starts ============\ncollecting ... collected 9 items\n\n...\n" + last + "\n")
}

// staged returns a report of tests with the stages that they went through: "passed: call=passed".
func staged(code int, tests ...string) []byte {
	var all []string
	for i, t := range tests {
		outcome, went, _ := strings.Cut(t, ": ")
		var stages strings.Builder
		for stage := range strings.FieldsSeq(went) {
			name, ended, _ := strings.Cut(stage, "=")
			fmt.Fprintf(&stages, `,%q:{"outcome":%q}`, name, ended)
		}
		all = append(all, fmt.Sprintf(`{"nodeid":"tests/test_checkpoint_2.py::t%d","outcome":%q%s}`, i, outcome, &stages))
	}
	return fmt.Appendf(nil, `{"exitcode":%d,"tests":[%s]}`, code, strings.Join(all, ","))
}

const (
	passes       = "passed: setup=passed call=passed teardown=passed"
	fails        = "failed: setup=passed call=failed teardown=passed"
	skips        = "skipped: setup=passed call=skipped teardown=passed"
	failsSetup   = "error: setup=failed teardown=passed"
	failsAfter   = "error: setup=passed call=passed teardown=failed"
	failsTwice   = "error: setup=passed call=failed teardown=failed"
	xfails       = "xfailed: setup=passed call=skipped teardown=passed"
	xpasses      = "xpassed: setup=passed call=passed teardown=passed"
	subtestsPass = "subtests passed: setup=passed call=passed teardown=passed"
	subtestsFail = "failed: setup=passed call=passed teardown=passed"
)

// TestHonestRuns has the ends of true runs, as pytest 7 to 9 and plugins write them.
func TestHonestRuns(t *testing.T) {
	for _, try := range []struct {
		name  string
		last  string
		code  int
		tests []string
	}{
		{"passes", "=== 1 passed in 0.02s ===", 0, []string{passes}},
		{"in colours", "\x1b[32m=== \x1b[32m\x1b[1m1 passed\x1b[0m, \x1b[33m1 skipped\x1b[0m\x1b[32m in 0.01s\x1b[0m\x1b[32m ===\x1b[0m", 0, []string{passes, skips}},
		{"with line ends of Windows", "=== 1 passed in 0.02s ===\r", 0, []string{passes}},
		{"long", "= 1 passed in 65.02s (0:01:05) =", 0, []string{passes}},
		{"for days", "= 1 passed in 90065.02s (1 day, 1:01:05) =", 0, []string{passes}},
		{"of pytest 4", "=== 1 passed, 2 warnings in 0.02 seconds ===", 0, []string{passes}},
		{"errors of both ends", "=== 2 failed, 2 passed, 3 errors in 0.07s ===", 1, []string{passes, fails, failsSetup, failsAfter, failsTwice}},
		{"expected and not", "=== 1 failed, 1 xfailed, 1 xpassed in 0.07s ===", 1, []string{xfails, xpasses, fails}},
		{"deselected, a module skipped", "=== 1 passed, 2 skipped, 14 deselected, 1 xpassed, 1 warning in 0.02s ===", 0, []string{passes, skips, xpasses}},
		{"words of conftest.py", "=== 1 failed, 1 splendid in 0.03s ===", 1, []string{"splendid: setup=passed call=passed teardown=passed", fails}},
		{"an end that a test printed", "!!!!! _pytest.outcomes.Exit: no !!!!!\n-- short --\n=== 1 failed, 1 passed in 0.03s ===", 1, []string{passes, fails}},
		{"subtests pass", "=== 1 passed, 3 subtests passed in 0.08s ===", 0, []string{subtestsPass}},
		{"subtests fail", "SUBFAILED(i=0) tests/t.py::t\n=== 3 failed, 1 passed in 0.08s ===", 1, []string{subtestsFail}},
		{"subtests of a fixture fail", "SUBFAILED(i=0) tests/t.py::t\n=== 4 failed in 0.08s ===", 1, []string{fails}},
		{"reruns", "=== 1 failed, 1 passed, 3 rerun in 0.13s ===", 1, []string{"rerun: setup=passed call=passed teardown=passed", fails}},
		{"a test twice", "=== 4 passed in 0.02s ===", 0, []string{passes, passes}},
		{"a worker crashed", "=== 1 failed, 2 passed in 2.21s ===", 1, []string{passes, passes, "failed: "}},
		{"-qqq", "2 passed in 0.01s", 0, []string{passes, passes}},
		{"a reporter of a plugin", "Results (0.05s):\n         2 passed", 0, []string{passes, passes}},
		{"words of a plugin", "=== 2 passed :) in 0.05s ===", 0, []string{passes, passes}},
		{"a run in a test", "E   === 9 failed in 1.00s ===\n=== 9 failed in 1.00s ===\n=== 1 failed in 2.00s ===\nbye\n", 1, []string{fails}},
	} {
		log := pytestLog(try.last)
		if try.name == "-qqq" {
			log = []byte("..\n" + try.last + "\n")
		}
		v, m := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: try.code}}, report: staged(try.code, try.tests...), log: log})
		if v.Class != verdict.Judged || len(v.Tests) != len(try.tests) {
			t.Errorf("%s: %s, %d tests: %s", try.name, v.Class, len(v.Tests), m.Message)
		}
	}
}

// A failed subtest is the failure of its test in CTRF only: pytest-json-report has the outcome of the last subtest.
func TestSubtests(t *testing.T) {
	last := pytestLog("SUBFAILED(i=1) tests/t.py::t\n=== 1 failed, 2 passed, 5 subtests passed in 0.08s ===")
	all := []one{{id: current + "::t0", outcome: "passed"}, {id: current + "::t1", outcome: "failed"}}
	for _, try := range []struct {
		name string
		code int
		log  []byte
		ctrf []byte
		want [2]verdict.TestStatus
	}{
		{"one fails", 1, last, encodeCTRF(all...), [2]verdict.TestStatus{verdict.TestPassed, verdict.TestFailed}},
		{"one fails, and CTRF is not there", 1, last, nil, [2]verdict.TestStatus{verdict.TestError, verdict.TestError}},
		{"none fails, and CTRF is missing", 0, pytestLog("=== 2 passed, 5 subtests passed in 0.08s ==="), nil, [2]verdict.TestStatus{verdict.TestPassed, verdict.TestPassed}},
	} {
		v, m := parse.judge(runOutput{exit: exitFacts{Exit: session.Exit{Code: try.code}}, report: staged(try.code, subtestsPass, subtestsPass), ctrf: try.ctrf, log: try.log})
		if len(v.Tests) != 2 || v.Tests[0].Status != try.want[0] || v.Tests[1].Status != try.want[1] {
			t.Errorf("%s: %s, %+v: %s", try.name, v.Class, v.Tests, m.Message)
		}
	}
	// More tests with words of plugins than the summary has such words for
	v, m := parse.judge(runOutput{exit: exitFacts{}, log: pytestLog("=== 1 splendid in 0.08s ==="),
		report: staged(0, "splendid: setup=passed call=passed teardown=passed", "splendid: setup=passed call=passed teardown=passed")})
	if v.Class != verdict.NoReport || !strings.Contains(m.Message, "the report has 2 tests that passed, but pytest's summary 1") {
		t.Errorf("%s: %s", v.Class, m.Message)
	}
}

// A run that pytest ended early is not judged, with any exit code.
func TestEndedEarly(t *testing.T) {
	for name, last := range map[string]string{
		"exit":                  "=== 1 passed in 0.02s ===\n!!!! _pytest.outcomes.Exit: no server !!!!",
		"exit in colours":       "=== 1 passed in 0.02s ===\n\x1b[31m!!!! _pytest.outcomes.Exit: no server !!!!\x1b[0m\nbye",
		"shouldfail, -x":        "!!!!! stopping after 1 failures !!!!!\n=== 1 passed in 0.03s ===",
		"exit, no summary left": "=== 1 passed, 1 warning in 0.02s ===\r\n!!! _pytest.outcomes.Exit: x !!!\r",
	} {
		v, m := parse.judge(runOutput{exit: exitFacts{}, report: staged(0, passes), log: pytestLog(last)})
		if v.Class != verdict.PytestFailed || !strings.Contains(m.Message, "pytest ended before it had run all tests: ") {
			t.Errorf("%s: %s: %s", name, v.Class, m.Message)
		}
	}
}

// TestReportsMustAgree: overwriting a report shows by what it lacks.
func TestReportsMustAgree(t *testing.T) {
	for _, try := range []struct {
		name  string
		last  string
		code  int
		tests []string
		ctrf  []one
		why   string
	}{
		{"a failure made a pass", "=== 2 failed, 1 passed in 0.02s ===", 1, []string{passes, passes, fails}, nil,
			"the report has 2 tests that passed, but pytest's summary 1"},
		{"failures left out", "=== 2 failed, 1 passed in 0.02s ===", 1, []string{passes, fails}, nil,
			"the report has 1 failures and errors, but pytest's summary 2"},
		{"an error made a skip", "=== 1 failed, 1 error in 0.02s ===", 1, []string{skips, fails}, nil,
			"the report has 1 failures and errors, but pytest's summary 2"},
		{"no failure", "=== 1 failed in 0.02s ===", 1, []string{skips}, nil, "the report has no failure, but pytest ended with exit code 1"},
		{"no summary", "test_a", 0, []string{passes}, nil, `pytest's output does not end with its summary`},
		{"no summary after a failure", "test_a", 1, []string{passes, fails}, nil, `pytest's output does not end with its summary`},
		{"the other report has a failure", "test_a 1 failed, 1 passed", 1, []string{passes, fails}, []one{{id: current + "::t0", outcome: "failed"}},
			"tests/test_checkpoint_2.py::t0 passed in pytest-report.json and failed in ctrf-report.json"},
		{"the other report has more failures", "1 failed", 1, []string{fails}, []one{{id: "a", outcome: "failed"}, {id: "b", outcome: "failed"}},
			"pytest-report.json has 1 failures, but ctrf-report.json 2"},
	} {
		l := runOutput{exit: exitFacts{Exit: session.Exit{Code: try.code}}, report: staged(try.code, try.tests...), log: pytestLog(try.last)}
		if try.ctrf != nil {
			l.ctrf = encodeCTRF(try.ctrf...)
		}
		v, m := parse.judge(l)
		if v.Class != verdict.NoReport || len(v.Tests) != 0 || !strings.Contains(m.Message, try.why) {
			t.Errorf("%s: %s, %d tests: %q, want %q", try.name, v.Class, len(v.Tests), m.Message, try.why)
		}
	}
	only := runOutput{ctrf: encodeCTRF(one{id: "a", outcome: "passed"}, one{id: "b", outcome: "passed"}), log: pytestLog("=== 1 passed in 0.02s ===")}
	if v, m := parse.judge(only); v.Class != verdict.NoReport {
		t.Errorf("the other report alone: %s: %s", v.Class, m.Message)
	}
}

// A summary that masking a secret would hide is kept next to the log.
func TestSummaryOfMaskedLogs(t *testing.T) {
	masked := pytestLog("=== 1 ****** in 0.02s ===")
	l := runOutput{exit: exitFacts{Summary: summaryIn(pytestLog("=== 1 passed in 0.02s ==="))}, report: staged(0, passes), log: masked}
	if v, m := parse.judge(l); v.Class != verdict.Judged {
		t.Errorf("honest: %s: %s", v.Class, m.Message)
	}
	l.report = staged(0, passes, passes)
	if v, _ := parse.judge(l); v.Class != verdict.NoReport {
		t.Errorf("forged: %s", v.Class)
	}
}
