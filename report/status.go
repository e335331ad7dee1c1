package report

// CellStatus sums up how a cell's checkpoints ended; what kept one from a
// verdict outweighs the verdicts of the others, infrastructure first.
func CellStatus(classes []Class) Status {
	worst := Skipped
	for _, c := range classes {
		if s := c.Status(); severity[s] > severity[worst] {
			worst = s
		}
	}
	return worst
}

var severity = map[Status]int{Skipped: 0, Success: 1, Error: 2, TimedOut: 3, Broken: 4}

// Status of a cell with just one checkpoint of class c.
func (c Class) Status() Status {
	switch c {
	case Judged:
		return Success
	case NotReached:
		return Skipped
	case SessionTimeout:
		return TimedOut
	case NotJudged:
		return Broken
	}
	return Error
}
