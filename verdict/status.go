package verdict

// Status of a cell.
type Status string

const (
	Success  Status = "success" // every selected checkpoint was judged, with any result
	Error    Status = "error"   // the submission prevented judging of a checkpoint
	TimedOut Status = "timeout" // a session limit ended a checkpoint
	Skipped  Status = "skipped" // nothing to judge
	Broken   Status = "broken"  // infrastructure prevented judging of a checkpoint
)

// Class specifies how a checkpoint's test run ended.
type Class string

const (
	Judged          Class = "judged"           // pytest ran and reported
	CollectionError Class = "collection_error" // pytest could not import or collect
	NoTests         Class = "no_tests"         // pytest collected nothing
	NoReport        Class = "no_report"        // pytest ended without a usable report
	Killed          Class = "killed"           // a signal ended pytest
	SessionTimeout  Class = "timeout"          // the session limit ended pytest
	PytestFailed    Class = "pytest_failed"    // interrupted, usage or internal error of pytest
	InputError      Class = "input_error"      // a file that the configuration names could not be used, or the problem is invalid
	CompileError    Class = "compile_error"    // the submission does not compile
	NoSubmission    Class = "no_submission"    // the configuration marks the submission as failed
	Refused         Class = "refused"          // the submission cannot be read, or is too large
	NotReached      Class = "not_reached"      // the submission has no source for this checkpoint
	NoScore         Class = "no_score"         // the problem's program ended and gave no score
	CheckerFailed   Class = "checker_failed"   // the problem's own checker or interactor gave no verdict on a case
	NotJudged       Class = "broken"           // infrastructure; no verdict exists
	Blocked         Class = "blocked"          // a task that it needs failed; no verdict exists
	ImportedVerdict Class = "imported"         // another tool's verdict, which counts only on request
	NotRun          Class = "skipped"          // the run ended first, or the machine lacks a device that it needs
)

// Status returns the status of a cell with just one checkpoint of class c. An unknown class, perhaps from a
// later version, is not blamed on the submission.
func (c Class) Status() Status {
	switch c {
	case Judged:
		return Success
	case NotRun, ImportedVerdict:
		return Skipped
	case SessionTimeout:
		return TimedOut
	case CollectionError, NoTests, NoReport, Killed, PytestFailed, InputError, CompileError, NoSubmission, Refused, NotReached, NoScore:
		return Error
	}
	return Broken
}

// CellStatus summarizes the classes of a cell's checkpoints: a class without a verdict outweighs verdicts,
// infrastructure first.
func CellStatus(classes []Class) Status {
	worst := Skipped
	for _, c := range classes {
		if s := c.Status(); s.severity() > worst.severity() {
			worst = s
		}
	}
	return worst
}

func (s Status) severity() int {
	switch s {
	case Skipped:
		return 0
	case Success:
		return 1
	case Error:
		return 2
	case TimedOut:
		return 3
	}
	return 4
}
