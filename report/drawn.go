package report

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Table is results as Write writes them as a table, and what it takes to draw some
// cells again without the others. It is a plain value, that can be kept in a file.
type Table struct {
	text.Drawing
	Color bool
	Tally Tally // under the checkpoints' own policies
	// Cells says that each row is a cell, Repeats and Scored which columns there are.
	Cells, Repeats, Scored bool
}

// CellChange is another content of a cell of results; it is the same cell.
type CellChange struct {
	Cell     int // its place
	Was, New *Cell
}

// DrawTable draws r.
func DrawTable(r *Results, color bool) *Table {
	t := &Table{Color: color, Cells: len(rowsOf(r)) > manyRows, Scored: r.scored(),
		Repeats: slices.ContainsFunc(r.Cells, func(c Cell) bool { return c.Repeat > 1 })}
	for i := range r.Cells {
		t.Tally.Add(&r.Cells[i], nil)
	}
	t.Drawing = layOut(r, false, text.Line, painted(color)).Draw()
	return t
}

// Amended is the table of the same results with some other cells. It is false when
// that takes to draw all of it anew. The tally is right in either case.
func (t *Table) Amended(changes []CellChange) (*Table, bool) {
	next := *t
	fits := t.Cells
	l := layout{repeats: t.Repeats, scored: t.Scored, safe: text.Line, mark: painted(t.Color)}
	var rows []text.RowChange
	for _, c := range changes {
		next.Tally.Replace(c.Was, c.New, nil)
		both := &Results{Cells: []Cell{*c.Was, *c.New}}
		// The last cell with a score may have lost it, and a cell may show
		// another number of rows: neither is worth finding out.
		fits = fits && len(c.Was.Listed()) == len(c.New.Listed()) && both.scored() == t.Scored &&
			(!t.Scored || (&Results{Cells: both.Cells[1:]}).scored())
		rows = append(rows, text.RowChange{Row: c.Cell, Was: l.cell(c.Was), New: l.cell(c.New)})
	}
	if !fits {
		return &next, false
	}
	grid := l.cellGrid()
	grid.Footer = next.Tally.Summary().String()
	var ok bool
	next.Drawing, ok = t.Drawing.Amended(grid, t.Tally.Summary().String(), rows)
	return &next, ok
}
