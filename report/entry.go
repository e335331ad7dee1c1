package report

import "github.com/fevalgraph/fevalgraph/verdict"

// Entry is a checkpoint of a cell, or a cell without checkpoints, with a one-line note for pages.
type Entry struct {
	Cell       *Cell
	Checkpoint *Checkpoint // never nil
	Name       string      // problem/checkpoint/solution@backend
	Outcome    verdict.Outcome
	Note       string // why it did not pass, or a caveat; "" without a note
}

// Entries lists every checkpoint of r in natural order: run2 before run10.
func (r *Results) Entries() []Entry {
	rows := rowsOf(r.inOrder(false))
	entries := make([]Entry, len(rows))
	for i, row := range rows {
		entries[i] = Entry{Cell: row.cell, Checkpoint: row.checkpoint, Name: rowName(row, true), Outcome: outcomeOf(row.checkpoint), Note: note(row)}
	}
	return entries
}

// Said returns the line of a failing test's message that describes the error.
func (t *Test) Said() string { return testError(t) }
