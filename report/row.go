package report

import "github.com/fevalgraph/fevalgraph/verdict"

// row is a checkpoint of a cell, or a cell without checkpoints, or a task.
type row struct {
	cell       *Cell       // empty for a task
	checkpoint *Checkpoint // never nil; for a cell without checkpoints, its Name is empty
	task       *Task
}

// rowsOf lists every checkpoint of r in order.
func rowsOf(r *Results) []row {
	var rows []row
	for i := range r.Cells {
		cell := &r.Cells[i]
		listed := cell.Listed()
		for j := range listed {
			rows = append(rows, row{cell: cell, checkpoint: &listed[j]})
		}
	}
	return rows
}

// judgedRows lists every checkpoint and every task of r, in the order of results.
func judgedRows(r *Results) []row {
	rows := rowsOf(r.inOrder(false))
	for i := range r.Tasks {
		t := &r.Tasks[i]
		rows = append(rows, row{&Cell{}, t.checkpoint(), t})
	}
	return rows
}

// Listed returns the checkpoints of the cell. A cell without checkpoints, such as one of an invalid problem,
// gets a nameless checkpoint made from its status, so that loops over checkpoints do not miss it.
func (c *Cell) Listed() []Checkpoint {
	if len(c.Checkpoints) > 0 {
		return c.Checkpoints
	}
	return []Checkpoint{{Class: statusClass(c.Status), Message: c.Message}}
}

// statusClass returns the class of a checkpoint of a cell with this status. Success without a checkpoint proves
// nothing and counts as skipped.
func statusClass(s verdict.Status) verdict.Class {
	switch s {
	case verdict.Success, verdict.Skipped:
		return verdict.NotRun
	case verdict.TimedOut:
		return verdict.SessionTimeout
	case verdict.Error:
		return verdict.InputError // only unusable input ends a cell before its first checkpoint
	}
	return verdict.NotJudged
}

// message returns the checkpoint's message, or its caveat, or the cell's message if the checkpoint was not
// judged.
func (r row) message() string {
	if m := messageOr(r.checkpoint.Message, r.checkpoint.Caveat()); m != "" || r.checkpoint.Class == verdict.Judged {
		return m
	}
	return messageOr(r.cell.Message, "")
}

// seconds returns the duration of the checkpoint's test session.
func (r row) seconds() float64 { return r.checkpoint.DurationMS / 1000 }
