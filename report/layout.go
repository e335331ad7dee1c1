package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// manyRows is the number of checkpoints above which a table has a row for each cell by default.
const manyRows = 40

// Columns of a name and of a note before they are shortened. Other formats are not limited.
const (
	nameColumns = 80
	noteColumns = 500
)

// layout renders results as a grid.
type layout struct {
	repeats bool                                        // show a column for repeats
	scored  bool                                        // show a column for scores
	grouped bool                                        // show columns for groups of tests
	runs    bool                                        // show a column for runs, if there are several
	states  bool                                        // show a column for the states of verdicts
	safe    func(s string, limit int) string            // escapes and shortens a string
	mark    func(v verdict.Outcome, word string) string // decorates the word for a verdict
}

// layOut makes a row for each checkpoint or, if there are many and all is not set, for each cell.
func layOut(r *Results, all bool, safe func(string, int) string, mark func(verdict.Outcome, string) string) text.Grid {
	l := layout{scored: r.hasScores(), safe: safe, mark: mark}
	for _, cell := range r.Cells {
		l.repeats = l.repeats || cell.Repeat > 1
	}
	rows := rowsOf(r)
	for _, row := range rows {
		l.runs = l.runs || row.checkpoint.Run != ""
		l.states = l.states || row.checkpoint.State != ""
	}
	l.grouped = !l.scored || slices.ContainsFunc(rows, func(r row) bool { return r.checkpoint.Name != "" })
	if len(rows) > manyRows && !all {
		cells := make([]CellRow, len(r.Cells))
		for i := range r.Cells {
			cells[i] = RowOf(&r.Cells[i])
		}
		grid := l.perCell(cells)
		grid.Footer += r.staleNote()
		return grid
	}
	grid := l.perCheckpoint(r.Run, rows)
	tally := tallyCells(r, nil)
	grid.Footer = tally.Summary().String() + tally.Recorded.note() + r.staleNote()
	return grid
}

// staleNote counts the verdicts that are out of date, and those where this is unknown; "" if all are current.
func (r *Results) staleNote() string {
	stale, unknown := 0, 0
	for _, row := range rowsOf(r) {
		switch c := row.checkpoint; {
		case c.State == "", c.neverJudged():
		case c.maybeCurrent():
			unknown++
		default:
			stale++
		}
	}
	const why = "; `fevalgraph status` shows why"
	note := ""
	switch stale {
	case 0:
	case 1:
		note = "\n1 verdict is out of date" + why
	default:
		note = fmt.Sprintf("\n%d verdicts are out of date%s", stale, why)
	}
	switch unknown {
	case 0:
	case 1:
		note += "\nwhether 1 verdict still holds is unknown" + why
	default:
		note += fmt.Sprintf("\nwhether %d verdicts still hold is unknown%s", unknown, why)
	}
	return note
}

// spareColumns removes empty columns. On a narrow page, the column for the only backend can go first, then times,
// then runs.
func spareColumns(grid text.Grid) text.Grid {
	grid = grid.WithoutBlank()
	if at := slices.Index(grid.Header, "backend"); at >= 0 && grid.Constant(at) {
		grid.Spare = append(grid.Spare, at)
	}
	for _, name := range []string{"time", "run"} {
		if at := slices.Index(grid.Header, name); at >= 0 {
			grid.Spare = append(grid.Spare, at)
		}
	}
	return grid
}

func (l layout) perCheckpoint(run string, rows []row) text.Grid {
	names := []string{"problem", "checkpoint", "solution", "backend"}
	if l.runs {
		names = append(names, "run")
	}
	if l.states {
		names = append(names, "holds")
	}
	grid := l.grid("verdict", names...)
	ruled := ruledBetween(len(rows), func(i int) string { return rows[i].cell.Problem })
	shown := map[string]bool{} // causes of broken cells
	for i, r := range rows {
		if ruled(i) {
			grid.Rows = append(grid.Rows, nil)
		}
		c, cell, remark := r.checkpoint, r.cell, tableNote(r)
		if c.Culprit != nil && outcomeOf(c) == verdict.OutcomeBroken {
			if shown[c.Culprit.Message] {
				remark = word(c) + " for the same reason as above"
			}
			shown[c.Culprit.Message] = true
		}
		names := []string{cell.Problem, c.Name, cell.Solution, cell.Backend}
		if l.runs {
			names = append(names, c.judgedIn(run))
		}
		if l.states {
			names = append(names, orName(c.State, "yes"))
		}
		grid.Rows = append(grid.Rows, l.row(names, cell.Repeat,
			l.mark(outcomeOf(c), word(c)), [2]*float64{c.Score, c.ScoreUnbounded}, c.Groups, r.seconds(), remark))
	}
	return spareColumns(grid)
}

// ruledBetween returns whether row i is preceded by a rule. Rules separate problems, if any problem has several
// rows.
func ruledBetween(n int, problem func(i int) string) func(i int) bool {
	grouped := false
	for i := 1; i < n; i++ {
		grouped = grouped || problem(i) == problem(i-1)
	}
	return func(i int) bool { return grouped && i > 0 && problem(i) != problem(i-1) }
}

// grid returns an empty grid with columns for names, verdicts, and the fields that row adds.
func (l layout) grid(verdicts string, names ...string) text.Grid {
	if l.repeats {
		names = append(names, "repeat")
	}
	header := names
	if l.scored {
		header = append(header, "score", "unbounded")
	}
	header = append(header, verdicts)
	if l.grouped {
		header = append(header, "core", "func", "regr", "error")
	}
	header = append(header, "time", "note")
	var right []int
	for i := len(names); i < len(header)-1; i++ {
		if header[i] != verdicts {
			right = append(right, i)
		}
	}
	return text.Grid{Header: header, Right: right}
}

func (l layout) row(names []string, repeat int, passed string, scores [2]*float64, groups verdict.GroupCounts, seconds float64, note string) []string {
	var cells []string
	for _, name := range names {
		cells = append(cells, l.safe(name, nameColumns))
	}
	if l.repeats {
		cells = append(cells, strconv.Itoa(repeat))
	}
	if l.scored {
		cells = append(cells, formatRounded(scores[0]), formatRounded(scores[1]))
	}
	cells = append(cells, passed)
	if l.grouped {
		for _, g := range verdict.Groups {
			cells = append(cells, fraction(groups[g]))
		}
	}
	time := "-"
	if seconds > 0 {
		time = text.Duration(seconds)
	}
	return append(cells, time, l.safe(note, noteColumns))
}

// fraction returns a text such as "12/14", or "-" for an empty group.
func fraction(c verdict.Count) string {
	if c.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", c.Passed, c.Total)
}
