package report

// row is a checkpoint of a cell, or a cell that has none to show.
type row struct {
	cell       *Cell
	checkpoint *Checkpoint // never nil; of a cell that has none, its Name is empty
}

// rowsOf lists every checkpoint of r in order. A cell without checkpoints
// still gets a row, made from its status, so that no format loses it.
func rowsOf(r *Results) []row {
	var rows []row
	for i := range r.Cells {
		cell := &r.Cells[i]
		for j := range cell.Checkpoints {
			rows = append(rows, row{cell, &cell.Checkpoints[j]})
		}
		if len(cell.Checkpoints) == 0 {
			rows = append(rows, row{cell, &Checkpoint{Class: statusClass(cell.Status), Message: cell.Message}})
		}
	}
	return rows
}

// statusClass is the class that a checkpoint of a cell with this status would
// have. Success without a checkpoint proves nothing and counts as skipped.
func statusClass(s Status) Class {
	switch s {
	case Success, Skipped:
		return NotReached
	case TimedOut:
		return SessionTimeout
	case Error:
		return InputError // nothing but an unusable input ends a cell before its first checkpoint
	}
	return NotJudged
}

// message is the checkpoint's message or, for one without, its caveat or the
// cell's message when the checkpoint is not judged.
func (r row) message() string {
	if m := messageOr(r.checkpoint.Message, r.checkpoint.Caveat()); m != "" || r.checkpoint.Class == Judged {
		return m
	}
	return messageOr(r.cell.Message, "")
}

// seconds is how long the checkpoint's test session took.
func (r row) seconds() float64 { return r.checkpoint.DurationMS / 1000 }
