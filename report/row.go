package report

import "github.com/fevalgraph/fevalgraph/verdict"

// row is a checkpoint of a cell, or a cell that has none to show.
type row struct {
	cell       *Cell
	checkpoint *Checkpoint // never nil; of a cell that has none, its Name is empty
}

// rowsOf lists every checkpoint of r in order.
func rowsOf(r *Results) []row {
	var rows []row
	for i := range r.Cells {
		cell := &r.Cells[i]
		listed := cell.Listed()
		for j := range listed {
			rows = append(rows, row{cell, &listed[j]})
		}
	}
	return rows
}

// Listed returns the checkpoints of the cell. One that has none to show, such
// as a cell of an invalid problem, has a nameless checkpoint made from its
// status, so that nothing that goes over checkpoints loses it.
func (c *Cell) Listed() []Checkpoint {
	if len(c.Checkpoints) > 0 {
		return c.Checkpoints
	}
	return []Checkpoint{{Class: statusClass(c.Status), Message: c.Message}}
}

// statusClass is the class that a checkpoint of a cell with this status would
// have. Success without a checkpoint proves nothing and counts as skipped.
func statusClass(s verdict.Status) verdict.Class {
	switch s {
	case verdict.Success, verdict.Skipped:
		return verdict.NotRun
	case verdict.TimedOut:
		return verdict.SessionTimeout
	case verdict.Error:
		return verdict.InputError // nothing but an unusable input ends a cell before its first checkpoint
	}
	return verdict.NotJudged
}

// message is the checkpoint's message or, for one without, its caveat or the
// cell's message when the checkpoint is not judged.
func (r row) message() string {
	if m := messageOr(r.checkpoint.Message, r.checkpoint.Caveat()); m != "" || r.checkpoint.Class == verdict.Judged {
		return m
	}
	return messageOr(r.cell.Message, "")
}

// seconds is how long the checkpoint's test session took.
func (r row) seconds() float64 { return r.checkpoint.DurationMS / 1000 }
