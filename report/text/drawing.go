package text

import (
	"slices"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/text"
)

// Drawing is a grid that was drawn as Text, and what it takes to draw some of its
// rows again without the others. It is a plain value, that can be kept in a file.
type Drawing struct {
	Text   string
	Widths []int   // of the columns
	Widest []int   // how many rows, and the header, are as wide as that
	Ends   []int32 // of the lines of rows in Text; nil when a row is no line
}

// RowChange is another content of a row of a drawing. Rows are counted without
// the lines between groups.
type RowChange struct {
	Row      int
	Was, New []string
}

// headLines are those of the header and the rule below it.
const headLines = 2

// Draw draws the grid as Text does.
func (g Grid) Draw() Drawing {
	d := Drawing{Text: g.Text(), Widths: make([]int, len(g.Header)), Widest: make([]int, len(g.Header))}
	rows := g.fit()
	d.measure(g.Header)
	for _, row := range rows {
		d.measure(row)
	}
	d.Ends = make([]int32, 0, len(rows))
	end, line := 0, 0
	for text := range strings.Lines(strings.TrimSuffix(d.Text, g.footer())) {
		end += len(text)
		if row := line - headLines; row >= 0 && row < len(rows) && rows[row] != nil {
			d.Ends = append(d.Ends, int32(end))
		}
		line++
	}
	if line != headLines+len(rows) || g.Width > 0 {
		d.Ends = nil
	}
	return d
}

// measure makes the columns wide enough for a row.
func (d *Drawing) measure(row []string) {
	for i, cell := range row {
		switch width := pretty.StringWidthWithoutEscSequences(cell); {
		case width > d.Widths[i]:
			d.Widths[i], d.Widest[i] = width, 1
		case width == d.Widths[i]:
			d.Widest[i]++
		}
	}
}

// Amended is the drawing of the same grid with some other rows, and with the footer
// of g in place of was. It is false when that takes to draw all of it anew. g has
// the header and the columns of what was drawn, and needs no rows.
func (d Drawing) Amended(g Grid, was string, changes []RowChange) (Drawing, bool) {
	next := Drawing{Widths: d.Widths, Widest: slices.Clone(d.Widest)}
	body, ok := strings.CutSuffix(d.Text, Grid{Footer: was}.footer())
	if !ok || d.Ends == nil || len(g.Header) != len(d.Widths) {
		return next, false
	}
	widest := make([]string, len(d.Widths))
	for i, width := range d.Widths {
		widest[i] = strings.Repeat("x", width)
	}
	alone := Grid{Header: g.Header, Right: g.Right, Rows: [][]string{widest}}
	slices.SortFunc(changes, func(a, b RowChange) int { return a.Row - b.Row })
	for _, c := range changes {
		if c.Row < 0 || c.Row >= len(d.Ends) || len(c.Was) != len(d.Widths) || len(c.New) != len(d.Widths) {
			return next, false
		}
		for i := range d.Widths {
			now := pretty.StringWidthWithoutEscSequences(c.New[i])
			if now > d.Widths[i] {
				return next, false
			}
			if now == d.Widths[i] {
				next.Widest[i]++
			}
			if pretty.StringWidthWithoutEscSequences(c.Was[i]) == d.Widths[i] {
				next.Widest[i]--
			}
		}
		alone.Rows = append(alone.Rows, c.Was, c.New)
	}
	if slices.Contains(next.Widest, 0) {
		return next, false
	}
	lines := slices.Collect(strings.Lines(alone.Text()))
	if len(lines) != headLines+len(alone.Rows) {
		return next, false
	}
	next.Ends = slices.Clone(d.Ends)
	var text strings.Builder
	text.Grow(len(d.Text) + 1024)
	from, shift, at := 0, 0, 0
	for n, c := range changes {
		wasLine, line := lines[headLines+1+2*n], lines[headLines+2+2*n]
		end := int(d.Ends[c.Row])
		start := strings.LastIndexByte(body[:end-1], '\n') + 1
		if start < from || body[start:end] != wasLine {
			return next, false // the same row twice, or one that was another
		}
		text.WriteString(body[from:start])
		text.WriteString(line)
		for ; at < c.Row; at++ {
			next.Ends[at] += int32(shift)
		}
		shift += len(line) - (end - start)
		from = end
	}
	for ; at < len(next.Ends); at++ {
		next.Ends[at] += int32(shift)
	}
	text.WriteString(body[from:])
	text.WriteString(g.footer())
	next.Text = text.String()
	return next, true
}
