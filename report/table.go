package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// manyRows is where a table of checkpoints stops being readable at a glance;
// above it, unless Verbose, a row is a cell.
const manyRows = 40

func writeTable(w io.Writer, r *Results, o Options) error {
	palette := text.NewPalette(o.Color)
	plain := func(s string) string { return text.Line(s, 0) }
	grid := gridOf(r, o, plain, func(v verdict, word string) string {
		switch v {
		case verdictPassed:
			return palette.Good(word)
		case verdictSkipped:
			return palette.Quiet(word)
		case verdictBroken:
			return palette.Doubt(word)
		}
		return palette.Bad(word)
	})
	grid.Width = o.Width
	_, err := io.WriteString(w, grid.Text())
	return err
}

func writeMarkdown(w io.Writer, r *Results, o Options) error {
	grid := gridOf(r, o, text.Markdown, func(v verdict, word string) string {
		if v == verdictPassed {
			return word
		}
		return "**" + word + "**"
	})
	_, err := io.WriteString(w, grid.Markdown())
	return err
}

// gridOf lays out r: a row per checkpoint, or per cell when there are many.
// safe makes a string fit for the page; mark dresses the word for a verdict.
func gridOf(r *Results, o Options, safe func(string) string, mark func(verdict, string) string) text.Grid {
	l := layout{safe: safe, mark: mark}
	for _, cell := range r.Cells {
		l.repeats = l.repeats || cell.Repeat > 1
	}
	rows := rowsOf(r)
	var grid text.Grid
	if len(rows) > manyRows && !o.Verbose {
		grid = l.perCell(r)
	} else {
		grid = l.perCheckpoint(rows)
	}
	grid.Footer = safe(Summarize(r, nil).String())
	return grid
}

type layout struct {
	repeats bool // some cell is a repeat, so there is a column for it
	safe    func(string) string
	mark    func(verdict, string) string
}

func (l layout) perCheckpoint(rows []row) text.Grid {
	grid := text.Grid{Header: []string{"problem", "checkpoint", "solution", "backend"}}
	if l.repeats {
		grid.Header = append(grid.Header, "repeat")
	}
	grid.Header = append(grid.Header, "passed", "core", "func", "regr", "error", "time", "note")
	grid.Right = numbersBefore(len(grid.Header)-1, len(Groups)+1)
	for i, r := range rows {
		if i > 0 && rows[i-1].cell.Problem != r.cell.Problem {
			grid.Rows = append(grid.Rows, nil)
		}
		c := r.checkpoint
		cells := []string{l.safe(r.cell.Problem), l.safe(orName(c.Name, "-")), l.safe(r.cell.Solution), l.safe(r.cell.Backend)}
		if l.repeats {
			cells = append(cells, strconv.Itoa(r.cell.Repeat))
		}
		cells = append(cells, l.mark(verdictOf(c), word(c)))
		for _, g := range Groups {
			cells = append(cells, fraction(c.Groups[g]))
		}
		grid.Rows = append(grid.Rows, append(cells, text.Duration(r.seconds()), l.safe(note(r))))
	}
	return grid
}

func (l layout) perCell(r *Results) text.Grid {
	grid := text.Grid{Header: []string{"problem", "solution", "backend"}}
	if l.repeats {
		grid.Header = append(grid.Header, "repeat")
	}
	grid.Header = append(grid.Header, "passed", "core", "func", "regr", "error", "time", "note")
	grid.Right = numbersBefore(len(grid.Header)-1, len(Groups)+1)
	for i := range r.Cells {
		cell := &r.Cells[i]
		if i > 0 && r.Cells[i-1].Problem != cell.Problem {
			grid.Rows = append(grid.Rows, nil)
		}
		one := &Results{Cells: r.Cells[i : i+1]}
		counts, seconds, worst, remark := make(GroupCounts), 0.0, verdictPassed, ""
		for _, row := range rowsOf(one) {
			for _, g := range Groups {
				counts[g] = counts[g].plus(row.checkpoint.Groups[g])
			}
			seconds += row.seconds()
			if v := verdictOf(row.checkpoint); v.worse(worst) {
				worst = v
				remark = fmt.Sprintf("%s %s", orName(row.checkpoint.Name, "cell"), word(row.checkpoint))
				if n := note(row); n != "" {
					remark += ": " + n
				}
			}
		}
		s := Summarize(one, nil)
		cells := []string{l.safe(cell.Problem), l.safe(cell.Solution), l.safe(cell.Backend)}
		if l.repeats {
			cells = append(cells, strconv.Itoa(cell.Repeat))
		}
		cells = append(cells, l.mark(worst, fmt.Sprintf("%d/%d", s.Passed, s.Checkpoints)))
		for _, g := range Groups {
			cells = append(cells, fraction(counts[g]))
		}
		grid.Rows = append(grid.Rows, append(cells, text.Duration(seconds), l.safe(remark)))
	}
	return grid
}

// word is the mark of a checkpoint. Case says "look here" where there is no
// colour.
func word(c *Checkpoint) string {
	switch verdictOf(c) {
	case verdictPassed:
		return "yes"
	case verdictFailed:
		return "NO"
	case verdictSkipped:
		return "skipped"
	case verdictErrored:
		return "ERROR"
	}
	return "BROKEN"
}

// note says in one line what the counts do not: why a checkpoint was not
// judged, or the first test that keeps it from passing.
func note(r row) string {
	c := r.checkpoint
	if c.Class != Judged {
		why := string(c.Class)
		if m := text.FirstLine(r.message()); m != "" {
			why += ": " + m
		}
		return why
	}
	if c.Passed {
		return ""
	}
	if m := remarkOn(c); m != nil {
		return text.FirstLine(m.message)
	}
	return failing(c)
}

// failing names the first failing test of the first group that has one, as
// the policy most people use looks at core first, and counts the others.
func failing(c *Checkpoint) string {
	name, group, others := "", len(Groups), -1
	for _, t := range c.Tests {
		if t.Status != TestFailed && t.Status != TestError {
			continue
		}
		others++
		if g := slices.Index(Groups[:], t.Group); name == "" || g >= 0 && g < group {
			name, group = t.ID, g
		}
	}
	if others > 0 {
		name += fmt.Sprintf(" and %d more", others)
	}
	return name
}

// worse orders verdicts by how much they ask for attention.
func (v verdict) worse(than verdict) bool { return v.rank() > than.rank() }

func (v verdict) rank() int {
	switch v {
	case verdictPassed:
		return 0
	case verdictSkipped:
		return 1
	case verdictFailed:
		return 2
	case verdictErrored:
		return 3
	}
	return 4
}

// fraction is "12/14", and "-" when the group is empty.
func fraction(c Count) string {
	if c.Total == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", c.Passed, c.Total)
}

// numbersBefore lists the n columns that end before column end.
func numbersBefore(end, n int) []int {
	var out []int
	for i := end - n; i < end; i++ {
		out = append(out, i)
	}
	return out
}
