package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/maruel/natural"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// CellRow holds the data of a cell that counts and the table of cells need. It is small, so that a caller can
// keep the rows of cells and drop their results.
type CellRow struct {
	Problem     string
	Solution    string
	Backend     string
	Repeat      int
	Checkpoints int     // as Listed
	Outcome     string  // worst of all checkpoints
	Remark      string  // note on the worst checkpoint
	Seconds     float64 // of all test sessions
	Groups      [len(verdict.Groups)]verdict.Count
	Scored      bool
	Named       bool        // whether checkpoints have names and groups of tests
	Scores      [2]*float64 // bounded and unbounded; only for a cell with a single, nameless checkpoint
	Tally       Tally       // each checkpoint by its own policy
	Unjudged    int         // checkpoints with a class other than judged, or that only limits ended
}

// RowOf returns the row of a cell.
func RowOf(cell *Cell) CellRow {
	one := &Results{Cells: []Cell{*cell}}
	r := CellRow{Problem: cell.Problem, Solution: cell.Solution, Backend: cell.Backend, Repeat: cell.Repeat, Scored: one.hasScores()}
	r.Tally.Add(cell, nil)
	worst := verdict.OutcomePassed
	for _, row := range rowsOf(one) {
		r.Checkpoints++
		if row.checkpoint.ShownClass() != verdict.Judged {
			r.Unjudged++
		}
		for i, g := range verdict.Groups {
			n := row.checkpoint.Groups[g]
			r.Groups[i].Passed += n.Passed
			r.Groups[i].Total += n.Total
		}
		r.Seconds += row.seconds()
		r.Named = r.Named || row.checkpoint.Name != ""
		if row.checkpoint.Name == "" {
			r.Scores = [2]*float64{row.checkpoint.Score, row.checkpoint.ScoreUnbounded}
		}
		v, name, n := outcomeOf(row.checkpoint), orName(row.checkpoint.Name, "cell"), tableNote(row)
		switch {
		case v == verdict.OutcomeScored && v.Rank() > worst.Rank():
			worst, r.Remark = v, n
		case v.Rank() > worst.Rank():
			worst, r.Remark = v, name+" "+word(row.checkpoint)
			if n != "" {
				r.Remark += ": " + n
			}
		case v == worst && r.Remark == "" && n != "": // a pass with a caveat
			r.Remark = name + " " + n
		}
	}
	r.Outcome = string(worst)
	return r
}

// WriteCellTable writes the table format from rows alone. It writes nothing and returns false if there are so
// few cells that the table has a row for each checkpoint, which requires the results.
func WriteCellTable(w io.Writer, rows []CellRow, o Options) (written bool, err error) {
	l := layout{safe: text.Line, mark: painted(o.Color)}
	checkpoints := 0
	for i := range rows {
		checkpoints += rows[i].Checkpoints
		l.repeats = l.repeats || rows[i].Repeat > 1
		l.scored = l.scored || rows[i].Scored
		l.grouped = l.grouped || rows[i].Named
	}
	l.grouped = l.grouped || !l.scored
	if checkpoints <= manyRows || o.Verbose {
		return false, nil
	}
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b CellRow) int {
		return cmp.Or(natural.Compare(a.Problem, b.Problem), natural.Compare(a.Solution, b.Solution), natural.Compare(a.Backend, b.Backend), cmp.Compare(a.Repeat, b.Repeat))
	})
	grid := l.perCell(rows)
	grid = grid.On(o.Page)
	_, err = io.WriteString(w, grid.Text())
	return true, err
}

// perCell makes a row for each cell.
func (l layout) perCell(rows []CellRow) text.Grid {
	grid := l.grid("passed", "problem", "solution", "backend")
	ruled := ruledBetween(len(rows), func(i int) string { return rows[i].Problem })
	var all Tally
	for i := range rows {
		if ruled(i) {
			grid.Rows = append(grid.Rows, nil)
		}
		grid.Rows = append(grid.Rows, l.cell(&rows[i]))
		all.Merge(&rows[i].Tally)
	}
	grid.Footer = all.Summary().String() + all.Recorded.note()
	return spareColumns(grid)
}

func (l layout) cell(r *CellRow) []string {
	groups := make(verdict.GroupCounts, len(verdict.Groups))
	for i, g := range verdict.Groups {
		groups[g] = r.Groups[i]
	}
	passed := fmt.Sprintf("%d/%d", r.Tally.Counts.Passed, r.Tally.Counts.Checkpoints)
	if verdict.Outcome(r.Outcome) == verdict.OutcomeScored {
		passed = "-"
	}
	return l.row([]string{r.Problem, r.Solution, r.Backend}, r.Repeat, l.mark(verdict.Outcome(r.Outcome), passed), r.Scores, groups, r.Seconds, r.Remark)
}
