package pytest

import (
	"fmt"
	"slices"
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

// reportContent is the content of a report that counts.
type reportContent struct {
	stagesReport
	usable  bool
	trouble string // why no report is usable
}

var collectedLine = lazyregexp.New(`collected (\d+) items?`)

// readReport reads the plugin's report. A report counts only if pytest ended as it claims; a killed process cannot have
// written it at its end. Without one, only the log shows how many tests were collected.
func readReport(l runOutput) reportContent {
	trouble := l.exit.Unusable
	switch {
	case l.exit.Signal != "" || l.exit.TimedOut || l.exit.Code >= signalBase:
	case trouble != "":
	case l.stages == nil:
		trouble = "pytest wrote no report"
	default:
		decoded, err := decodeStages(l.stages)
		if err == nil {
			err = decoded.contradiction(l.exit.Code)
		}
		if err == nil {
			return reportContent{stagesReport: *decoded, usable: true}
		}
		trouble = err.Error()
	}
	r := reportContent{trouble: trouble}
	if m := collectedLine().FindSubmatch(l.log); m != nil {
		r.Collected, _ = strconv.Atoi(string(m[1]))
	}
	return r
}

// contradiction returns how the report contradicts pytest's exit code, or nil.
func (r *stagesReport) contradiction(code int) error {
	failed := func(t reportedTest) bool { return t.found.failures > 0 || t.Status == verdict.TestError }
	switch {
	case r.Exit != code:
		return fmt.Errorf("it has exit code %d, but pytest ended with %d", r.Exit, code)
	case code == exitTestsFailed && r.failed == nil && r.Early == "" && !slices.ContainsFunc(r.tests, failed):
		return fmt.Errorf("it has no failure, but pytest ended with exit code %d", code)
	}
	return nil
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
	case code <= exitInterrupted && r.failed != nil:
		// Also exit code 1, which such a run has with --continue-on-collection-errors: tests that were never found cannot fail.
		return verdict.CollectionError, "pytest could not collect the tests: " + l.hint(r.failed.NodeID+": "+errorLine([]byte(r.failed.Message)))
	case code == exitUsage && strings.Contains(string(l.log), "while loading conftest"):
		return verdict.CollectionError, "conftest.py could not be loaded: " + l.hint(errorLine(l.log))
	case code >= exitInterrupted && code <= exitUsage:
		return verdict.PytestFailed, pytestTrouble[code] + ": " + errorLine(l.log)
	case code != exitOK && code != exitTestsFailed:
		return verdict.PytestFailed, fmt.Sprintf("pytest ended with exit code %d: %s", code, errorLine(l.log))
	case r.Early != "":
		return verdict.PytestFailed, "pytest ended before it had run all tests: " + r.Early
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
	return fmt.Sprintf("pytest found no tests: %s was %s", strings.TrimSuffix(skipped[0].File+"::"+skipped[0].ID, "::"+hiddenID), skipped[0].Message)
}

var pytestTrouble = map[int]string{
	exitInterrupted: "pytest was interrupted",
	exitInternal:    "pytest had an internal error",
	exitUsage:       "pytest was started with invalid arguments",
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
