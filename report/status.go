package report

// CellStatus sums up how a cell's checkpoints ended; what kept one from a
// verdict outweighs the verdicts of the others, infrastructure first.
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

// Status of a cell with just one checkpoint of class c. A class that is not
// known here, from a later version perhaps, blames nobody's code.
func (c Class) Status() Status {
	switch c {
	case Judged:
		return Success
	case NotReached, ImportedVerdict:
		return Skipped
	case SessionTimeout:
		return TimedOut
	case CollectionError, NoTests, NoReport, Killed, PytestFailed, InputError, CompileError, NoSubmission, NoScore:
		return Error
	}
	return Broken
}
