package pytest

import (
	"fmt"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Reports and log are written by processes of the submission's user, which can change them until pytest
// has ended. So they are trusted only if they agree. Comparisons only reject differences in favour of the
// submission: a run can legitimately count a test twice for many reasons, but cannot report a pass that
// pytest did not see.

// distrust discards the reports.
func (r *reportContent) distrust(why string) {
	r.mismatch, r.usable, r.tests, r.skipped, r.trouble = true, false, nil, nil, why
}

// contradiction returns how the report contradicts the end of pytest, or "". whole reports that the report
// contains every test with its stages.
func (r *reportContent) contradiction(l runOutput, whole bool) string {
	code := l.exit.Code
	if code != exitOK && code != exitTestsFailed || r.collector != nil {
		return "" // no test was judged
	}
	passed, failed, failures := 0, 0, 0
	for i := range r.tests {
		failures += r.tests[i].failures
		switch r.tests[i].Status {
		case verdict.TestPassed:
			passed++
		case verdict.TestFailed, verdict.TestError:
			failed++
		}
	}
	s := l.exit.Summary
	if s == nil {
		s = summaryIn(l.log)
	}
	counted := s.Counts["failed"] + s.Counts["error"]
	switch {
	case s.Cut:
		return `pytest's output does not end with its summary, such as "1 passed in 0.01s"`
	case code == exitTestsFailed && failed == 0:
		return "the report has no failure, but pytest ended with exit code 1"
	case s.Counts == nil:
		return ""
	case passed > s.passed(r.proven):
		return fmt.Sprintf("the report has %d tests that passed, but pytest's summary %d", passed, s.passed(r.proven))
	case whole && !s.Subtests && counted > failures:
		return fmt.Sprintf("the report has %d failures and errors, but pytest's summary %d", failures, counted)
	}
	return ""
}

// prove decides about tests that seem to have passed, but whose outcome in pytest-report.json is defined
// by a plugin. CTRF reports a failed subtest as a failure of its test; without an entry there, only the
// exit of pytest shows that no test failed.
func (r *reportContent) prove(ctrf []reportedTest, code int) {
	known := make(map[string]*reportedTest, len(ctrf))
	for i := range ctrf {
		known[ctrf[i].name] = &ctrf[i]
	}
	for i := range r.tests {
		t := &r.tests[i]
		if !t.unproven {
			continue
		}
		switch other := known[t.name]; {
		case other != nil && other.Status == verdict.TestFailed:
			t.Status, t.Message, t.failures = other.Status, other.Message, 1
		case other != nil && other.Status == verdict.TestPassed, other == nil && code == exitOK:
			t.Status, t.Message = verdict.TestPassed, ""
			r.proven++
		}
	}
}

// disagreement returns how a CTRF report differs from the tests of the other report, or "". Its names can
// lack parameters.
func disagreement(tests, ctrf []reportedTest) string {
	passed, failed := map[string]bool{}, 0
	for i := range tests {
		switch tests[i].Status {
		case verdict.TestPassed:
			passed[tests[i].name] = true
		case verdict.TestFailed, verdict.TestError:
			failed++
		}
	}
	others := 0
	for i := range ctrf {
		if ctrf[i].Status != verdict.TestFailed {
			continue
		}
		others++
		if passed[ctrf[i].name] {
			return fmt.Sprintf("%s passed in pytest-report.json and failed in ctrf-report.json", ctrf[i].name)
		}
	}
	if others > failed {
		return fmt.Sprintf("pytest-report.json has %d failures, but ctrf-report.json %d", failed, others)
	}
	return ""
}
