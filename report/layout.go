package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// manyRows is where a table of checkpoints stops being readable at a glance;
// above it, unless all are asked for, a row is a cell.
const manyRows = 40

// Columns of a name and of a note, above which they are cut. The other
// formats have them whole.
const (
	nameColumns = 80
	noteColumns = 120
)

// layout turns results into a grid for people.
type layout struct {
	repeats bool                                        // some cell is a repeat, so there is a column for it
	scored  bool                                        // likewise for scores
	grouped bool                                        // likewise for groups of tests
	runs    bool                                        // likewise for runs, of results that several have judged
	states  bool                                        // likewise for whether verdicts hold
	safe    func(s string, limit int) string            // makes a string fit for the page
	mark    func(v verdict.Outcome, word string) string // dresses the word for a verdict
}

// layOut makes a row per checkpoint or, when there are many and not all are
// wanted, one per cell.
func layOut(r *Results, all bool, safe func(string, int) string, mark func(verdict.Outcome, string) string) text.Grid {
	l := layout{scored: r.scored(), safe: safe, mark: mark}
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

// staleNote says how many verdicts no longer hold, and of how many that is not known; ""
// for none.
func (r *Results) staleNote() string {
	stale, unknown := 0, 0
	for _, row := range rowsOf(r) {
		switch c := row.checkpoint; c.State {
		case "":
		case StateUnknown:
			unknown++
		case "broken", "blocked": // of a verdict: what says whether it holds cannot be read now, such as an image
			if outcomeOf(c) == verdict.OutcomeBroken {
				stale++
			} else {
				unknown++
			}
		default:
			stale++
		}
	}
	const why = "; `fevalgraph status` says why"
	note := ""
	switch stale {
	case 0:
	case 1:
		note = "\n1 verdict no longer holds" + why
	default:
		note = fmt.Sprintf("\n%d verdicts no longer hold%s", stale, why)
	}
	switch unknown {
	case 0:
	case 1:
		note += "\nwhether 1 verdict still holds is not known" + why
	default:
		note += fmt.Sprintf("\nwhether %d verdicts still hold is not known%s", unknown, why)
	}
	return note
}

// spared leaves out the columns in which there is nothing. A reader can do without the backend
// where there is but one, then without the times, and then without the runs.
func spared(grid text.Grid) text.Grid {
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
	shown := map[string]bool{} // causes of what broke
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
			names = append(names, orName(c.Run, run))
		}
		if l.states {
			names = append(names, orName(c.State, "yes"))
		}
		grid.Rows = append(grid.Rows, l.row(names, cell.Repeat,
			l.mark(outcomeOf(c), word(c)), [2]*float64{c.Score, c.ScoreUnbounded}, c.Groups, r.seconds(), remark))
	}
	return spared(grid)
}

// ruledBetween returns whether a rule goes above row i: between problems, if
// any problem has more than one row; else rules would outnumber what they part.
func ruledBetween(n int, problem func(i int) string) func(i int) bool {
	grouped := false
	for i := 1; i < n; i++ {
		grouped = grouped || problem(i) == problem(i-1)
	}
	return func(i int) bool { return grouped && i > 0 && problem(i) != problem(i-1) }
}

// grid returns an empty grid with columns for names, verdicts, and what row adds.
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
		cells = append(cells, rounded(scores[0]), rounded(scores[1]))
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

// fraction is "12/14", and "-" when the group is empty.
func fraction(c verdict.Count) string {
	if c.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", c.Passed, c.Total)
}
