package report

import "github.com/fevalgraph/fevalgraph/verdict"

// Entry is a checkpoint of a cell, or a cell that has none to show, with what pages say of
// it in a line.
type Entry struct {
	Cell       *Cell
	Checkpoint *Checkpoint // never nil
	Name       string      // problem/checkpoint/solution@backend
	Outcome    verdict.Outcome
	Note       string // why it is no pass, or what to know beside; "" is nothing
}

// Entries lists every checkpoint of r as a person reads them: numbers within names count as
// such, so that run2 comes before run10.
func (r *Results) Entries() []Entry {
	rows := rowsOf(r.inOrder(false))
	entries := make([]Entry, len(rows))
	for i, row := range rows {
		entries[i] = Entry{Cell: row.cell, Checkpoint: row.checkpoint, Name: rowName(row, true), Outcome: outcomeOf(row.checkpoint), Note: note(row)}
	}
	return entries
}

// Said is the line of a failing test's message that says what went wrong.
func (t *Test) Said() string { return testError(t) }
