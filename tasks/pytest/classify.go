package pytest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// pytest's exit codes.
const (
	exitOK          = 0
	exitTestsFailed = 1
	exitInterrupted = 2 // also for errors during collection
	exitInternal    = 3
	exitUsage       = 4
	exitNoTests     = 5
	// signalBase is added by a launcher to the number of the signal that ended its child.
	signalBase = 128
)

// reportContent is the trusted content of the reports.
type reportContent struct {
	tests     []reportedTest
	skipped   []reportedTest // by collectors, see collector.hidden
	collected int
	counted   bool       // number of tests that pytest's output reports as collected
	collector *collector // the first failed one
	usable    bool
	proven    int    // passed tests with an outcome defined by a plugin
	mismatch  bool   // pytest did not end as a report claims
	trouble   string // why no report is usable
}

var collectedLine = lazyregexp.New(`collected (\d+) items?`)

// readReports combines the reports: pytest-json-report's if it contains tests, otherwise CTRF's. A report
// counts only if pytest ended as the report claims; a killed process cannot have written it at its end.
func readReports(l runOutput) reportContent {
	var r reportContent
	if l.exit.Collected != nil {
		r.collected, r.counted = *l.exit.Collected, true
	} else {
		r.collected, r.counted = collectedIn(l.log)
	}
	if l.exit.Signal != "" || l.exit.TimedOut || l.exit.Code >= signalBase {
		return r
	}
	if len(l.exit.TooLarge) > 0 {
		r.trouble = fmt.Sprintf("%s is larger than %d MiB", strings.Join(l.exit.TooLarge, " and "), maxReport>>20)
		return r
	}
	if len(l.exit.Unsealed) > 0 {
		r.trouble = unsealedTrouble(l.exit.Unsealed)
		return r
	}
	if l.report == nil && l.ctrf == nil {
		r.trouble = "pytest wrote no report"
		return r
	}
	if l.report != nil {
		r.readJSON(l)
	}
	fromJSON := len(r.tests) > 0
	if l.ctrf != nil && !r.mismatch {
		r.readCTRF(l, fromJSON)
	} else {
		r.prove(nil, l.exit.Code)
	}
	if why := r.contradiction(l, fromJSON); why != "" && r.usable {
		r.distrust(why)
	}
	return r
}

// collectedIn returns the number of tests that pytest's output reports as collected.
func collectedIn(log []byte) (n int, counted bool) {
	m := collectedLine().FindSubmatch(log)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(string(m[1]))
	return n, err == nil
}

func (r *reportContent) readJSON(l runOutput) {
	decoded, err := decodeJSONReport(l.report, r.most())
	if err != nil {
		r.refuse("pytest-report.json", err)
		return
	}
	if decoded.exitCode == nil {
		r.trouble = "pytest-report.json has no exit code"
		return
	}
	if *decoded.exitCode != l.exit.Code {
		r.mismatch = true
		r.trouble = fmt.Sprintf("pytest-report.json has exit code %d, but pytest ended with %d", *decoded.exitCode, l.exit.Code)
		return
	}
	r.usable = true
	if r.collected == 0 {
		r.collected = decoded.collected
	}
	r.collector, r.tests, r.skipped = decoded.failed, decoded.tests, decoded.skipped
}

// most returns the maximum number of tests in a report: the number of collected tests.
func (r *reportContent) most() int {
	if r.counted {
		return min(r.collected, maxTests)
	}
	return maxTests
}

// refuse notes why a report cannot be read. A report with more tests than were collected invalidates the
// other one, too.
func (r *reportContent) refuse(report string, err error) {
	switch {
	case errors.Is(err, errTooManyTests):
		r.mismatch, r.usable = true, false
		r.trouble = fmt.Sprintf("%s has more than the %d tests that pytest collected", report, r.collected)
		if !r.counted || r.collected > maxTests {
			r.trouble = fmt.Sprintf("%s has more than %d tests", report, maxTests)
		}
	case r.trouble == "":
		r.trouble = err.Error()
	}
}

// readCTRF reads the report without an exit code. Some versions include only the first case of a
// parametrised test, so it is not trusted if pytest ended with failures and it contains none. If the other
// report contains tests, this one is only used to confirm them.
func (r *reportContent) readCTRF(l runOutput, witness bool) {
	tests, err := decodeCTRF(l.ctrf, r.most())
	if witness {
		if err != nil {
			tests = nil
		}
		r.prove(tests, l.exit.Code)
		if why := disagreement(r.tests, tests); err == nil && why != "" {
			r.distrust(why)
		}
		return
	}
	if err != nil {
		r.refuse("ctrf-report.json", err)
		return
	}
	if len(tests) == 0 {
		return
	}
	failures := 0
	for i := range tests {
		if s := tests[i].Status; s == verdict.TestFailed || s == verdict.TestError {
			failures++
		}
	}
	if failed := l.exit.Code == exitTestsFailed; failed != (failures > 0) && (failed || l.exit.Code == exitOK) {
		r.trouble = fmt.Sprintf("ctrf-report.json has %d failures, but pytest ended with %d", failures, l.exit.Code)
		r.usable = false
		return
	}
	r.usable = true
	r.tests = tests
	if r.collected == 0 {
		r.collected = len(r.tests)
	}
}

// classify returns the class of the run, with a line for users, which is "" for an ordinary judged run.
func classify(l runOutput, r reportContent) (verdict.Class, string) {
	class, message := classOf(l, r)
	return class, withMemory(l.exit.MemoryLimit, class, message)
}

func classOf(l runOutput, r reportContent) (verdict.Class, string) {
	code := l.exit.Code
	switch {
	case l.exit.TimedOut:
		return verdict.SessionTimeout, fmt.Sprintf("pytest exceeded the session limit of %v", time.Duration(l.exit.Limit*float64(time.Second)))
	case l.exit.Signal != "":
		return verdict.Killed, "pytest was ended by a signal: " + l.exit.Signal
	case code >= signalBase:
		return verdict.Killed, fmt.Sprintf("pytest was ended by signal %d", code-signalBase)
	case code == exitNoTests && r.usable:
		return verdict.NoTests, noTests(r.skipped)
	case couldNotCollect(l, r):
		return verdict.CollectionError, "pytest could not collect the tests: " + l.hint(r.collectionTrouble(l.log))
	case code == exitUsage && strings.Contains(string(l.log), "while loading conftest"):
		return verdict.CollectionError, "conftest.py could not be loaded: " + l.hint(errorLine(l.log))
	case code >= exitInterrupted && code <= exitUsage:
		return verdict.PytestFailed, pytestTrouble[code] + ": " + errorLine(l.log)
	case code != exitOK && code != exitTestsFailed:
		return verdict.PytestFailed, fmt.Sprintf("pytest ended with exit code %d: %s", code, errorLine(l.log))
	case endedEarly(l.log) != "":
		return verdict.PytestFailed, "pytest ended before it had run all tests: " + endedEarly(l.log)
	case !r.usable:
		return verdict.NoReport, fmt.Sprintf("pytest ended with exit code %d, without a valid report: %s", code, r.trouble)
	case len(r.tests) == 0:
		return verdict.NoTests, "the report has no tests"
	}
	return verdict.Judged, ""
}

// hint adds to an error that tests cannot import the solution how they can.
func (l runOutput) hint(trouble string) string {
	if m := l.exit.Outside; m != "" && strings.HasSuffix(trouble, "No module named '"+m+"'") {
		trouble += `, which is the solution's (hint: write import = "separate" in the pytest block)`
	}
	return trouble
}

// noTests returns the message of a run without tests, in which collectors were skipped.
func noTests(skipped []reportedTest) string {
	if len(skipped) == 0 {
		return "pytest found no tests"
	}
	return fmt.Sprintf("pytest found no tests: %s was %s", skipped[0].name, skipped[0].Message)
}

// couldNotCollect reports whether collection failed. It includes exit code 1, which such a run has with
// --continue-on-collection-errors: tests that were never found cannot fail.
func couldNotCollect(l runOutput, r reportContent) bool {
	return l.exit.Code <= exitInterrupted && r.collector != nil ||
		l.exit.Code == exitInterrupted && strings.Contains(string(l.log), "during collection")
}

var pytestTrouble = map[int]string{
	exitInterrupted: "pytest was interrupted",
	exitInternal:    "pytest had an internal error",
	exitUsage:       "pytest was started with invalid arguments",
}

func (r *reportContent) collectionTrouble(log []byte) string {
	if r.collector == nil {
		return errorLine(log)
	}
	return r.collector.NodeID + ": " + errorLine([]byte(r.collector.LongRepr))
}

// errorLine returns the most informative line of a pytest log: the last line that pytest marks with "E",
// else a line that names an error, else the last line.
func errorLine(log []byte) string {
	marked, named := "", ""
	for line := range strings.Lines(string(log)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "E   ") || strings.HasPrefix(line, "E  "):
			marked = strings.TrimSpace(line[1:])
		case strings.HasPrefix(line, "ERROR: usage: "): // the next line contains the reason
		case strings.HasPrefix(line, "ERROR: ") || strings.HasPrefix(line, "pytest: error: ") || strings.Contains(line, "Error: ") || strings.HasPrefix(line, "!!"):
			named = line
		}
	}
	switch {
	case marked != "":
		return marked
	case named != "":
		return named
	}
	return session.LastLine(log)
}
