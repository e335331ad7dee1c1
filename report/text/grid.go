package text

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	pretty "github.com/jedib0t/go-pretty/v6/text"
)

const (
	gap       = 2  // spaces between columns
	least     = 12 // minimum width of the last column
	roomy     = 24 // minimum width of a last column of prose next to the others
	leastName = 8  // minimum width of other columns of text
)

// Page describes the output of a table.
type Page struct {
	Color bool
	Width int // columns; 0 means no limit
}

// Line wraps one line of text that begins at a column. Further lines are indented to it.
func (p Page) Line(s string, columns int) string {
	const fewest = 20
	if p.Width == 0 {
		return Line(s, 0)
	}
	return strings.Join(Fold(Line(s, 0), max(p.Width-columns, fewest)), "\n"+strings.Repeat(" ", columns))
}

// Grid is a table. Cells must be safe lines already, see Line; they can contain color.
type Grid struct {
	Header []string
	Rows   [][]string // a nil row draws a line between groups
	Right  []int      // indices of columns that hold numbers
	Whole  []int      // indices of other columns that are not wrapped, such as ids
	Footer string     // a line under the table
	// Spare lists columns that are removed, one by one, while the table is wider than Width. If a removed column has
	// the same value in all rows, that is above the table.
	Spare []int
	// Width is the maximum width of the table; 0 means no limit. The last column is below each row if it would be
	// narrow, and the widest other columns of text are wrapped. All have a minimum width.
	Width int
}

// On returns the grid, fit to a page.
func (g Grid) On(p Page) Grid {
	g.Width = p.Width
	return g
}

// Text draws the grid with spaces between columns and a rule below the
// header. It ends in a newline.
func (g Grid) Text() string {
	var same []string
	for g.Width > 0 && len(g.Spare) > 0 && g.needed() > g.Width {
		if c := g.Spare[0]; len(g.Blank(c)) == 0 && g.Constant(c) {
			same = append(same, pretty.FormatUpper.Apply(g.Header[c])+" "+g.Rows[0][c])
		}
		g = g.withoutColumn(g.Spare[0])
	}
	head := ""
	if len(same) > 0 {
		head = Hang(strings.Join(same, "  "), g.Width) + "\n"
	}
	if rest, notes, crowded := g.splitCrowded(); crowded {
		return head + rest.withNotes(notes) + g.footer()
	}
	return head + g.draw(g.writer(g.Rows, g.limits())) + g.footer()
}

// needed returns the width that the columns need. Prose in the last one can be below the rows.
func (g Grid) needed() int {
	if g.endsInProse() {
		return sum(g.columns()) - gap
	}
	return sum(g.columns()) + g.last()
}

// endsInProse reports whether the last column can be below the rows: it contains texts, and not only words.
func (g Grid) endsInProse() bool {
	last := len(g.Header) - 1
	hasWords := func(row []string) bool { return last < len(row) && strings.Contains(row[last], " ") }
	return last > 0 && !slices.Contains(g.Right, last) && (g.width(last) > least || slices.ContainsFunc(g.Rows, hasWords))
}

// splitCrowded returns the grid without its last column, and that column separately, if it would be wrapped after
// every few words.
func (g Grid) splitCrowded() (rest Grid, notes []string, ok bool) {
	last := len(g.Header) - 1
	if g.Width <= 0 || !g.endsInProse() {
		return g, nil, false
	}
	if room := g.Width - sum(g.columns()); room >= min(roomy, g.width(last)) {
		return g, nil, false
	}
	for _, row := range g.Rows {
		note := ""
		if last < len(row) {
			note = row[last]
		}
		notes = append(notes, note)
	}
	return g.withoutColumn(last), notes, true
}

// withNotes draws the grid with each note below its row.
func (g Grid) withNotes(notes []string) string {
	limits := g.limits()
	widths := make([]int, len(g.Header))
	for i := range widths {
		widths[i] = g.width(i)
		if i < len(limits) && limits[i] > 0 {
			widths[i] = limits[i]
		}
	}
	lines := strings.SplitAfter(g.draw(g.writer(g.Rows, limits)), "\n")
	var b strings.Builder
	take := func(n int) {
		n = min(n, len(lines))
		b.WriteString(strings.Join(lines[:n], ""))
		lines = lines[n:]
	}
	take(height(g.Header, widths) + 1) // including the rule below it
	for i, row := range g.Rows {
		take(height(row, widths))
		if notes[i] != "" {
			const indent = "    "
			b.WriteString(Hang(indent+notes[i], g.Width) + "\n")
		}
	}
	take(len(lines))
	return b.String()
}

// height returns the number of lines of a row in columns of these widths. A rule is one line.
func height(row []string, widths []int) int {
	lines := 1
	for i, cell := range row {
		lines = max(lines, strings.Count(pretty.WrapSoft(cell, widths[i]), "\n")+1)
	}
	return lines
}

// draw renders a table with spaces between columns and a rule below the header.
func (g Grid) draw(w table.Writer) string {
	style := table.StyleDefault
	style.Name = "plain columns"
	style.Format.Header = pretty.FormatUpper
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft, style.Box.PaddingRight = "", strings.Repeat(" ", gap)
	style.Box.MiddleHorizontal, style.Box.MiddleSeparator = "-", "-"
	w.SetStyle(style)
	var b strings.Builder
	for line := range strings.Lines(w.Render() + "\n") {
		line = strings.TrimRight(line, " \n")
		if rule := strings.Trim(line, "-") == ""; rule {
			line = line[:max(len(line)-gap, 0)] // remove the gap after the last column
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// footer returns the lines below the table.
func (g Grid) footer() string {
	if g.Footer == "" {
		return ""
	}
	return "\n" + Hang(g.Footer, g.Width) + "\n"
}

// Markdown draws the grid as a table in GitHub-flavoured Markdown. Cells must be escaped by Markdown and
// contain no color.
func (g Grid) Markdown() string {
	g.Rows = withoutRules(g.Rows)
	out := g.writer(g.Rows, nil).RenderMarkdown() + "\n"
	return out + g.footer()
}

// writer returns the table. A limit of 0 does not limit a column.
func (g Grid) writer(rows [][]string, limits []int) table.Writer {
	w := table.NewWriter()
	columns := make([]table.ColumnConfig, len(g.Header))
	for i := range columns {
		columns[i] = table.ColumnConfig{Number: i + 1}
		if slices.Contains(g.Right, i) {
			columns[i].Align, columns[i].AlignHeader = pretty.AlignRight, pretty.AlignRight
		}
		if i < len(limits) && limits[i] > 0 {
			columns[i].WidthMax, columns[i].WidthMaxEnforcer = limits[i], pretty.WrapSoft
		}
	}
	w.SetColumnConfigs(columns)
	w.AppendHeader(cells(g.Header))
	for _, row := range rows {
		if row == nil {
			w.AppendSeparator()
			continue
		}
		w.AppendRow(cells(row))
	}
	return w
}

// width returns the width of a column's widest cell.
func (g Grid) width(column int) int {
	widest := Width(g.Header[column])
	for _, row := range g.Rows {
		if column < len(row) {
			widest = max(widest, Width(row[column]))
		}
	}
	return widest
}

// columns returns the widths of all columns but the last, with the gaps after them.
func (g Grid) columns() []int {
	widths := make([]int, max(len(g.Header)-1, 0))
	for i := range widths {
		widths[i] = g.width(i) + gap
	}
	return widths
}

// last returns the minimum width of the last column. Numbers are not shortened.
func (g Grid) last() int {
	column := len(g.Header) - 1
	switch {
	case column < 0:
		return 0
	case slices.Contains(g.Right, column):
		return g.width(column)
	}
	return min(g.width(column), least)
}

// limits returns the widths of columns that must shrink for the table to fit, and 0 for others.
func (g Grid) limits() []int {
	last := len(g.Header) - 1
	if g.Width <= 0 || last < 0 {
		return nil
	}
	limits, widths := make([]int, len(g.Header)), g.columns()
	for over := sum(widths) + g.last() - g.Width; over > 0; {
		widest := -1
		for i, w := range widths {
			if w > max(leastName, Width(g.Header[i]))+gap && !slices.Contains(g.Right, i) && !slices.Contains(g.Whole, i) && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
		limits[widest] = widths[widest] - gap
		over--
	}
	if room := max(g.Width-sum(widths), g.last()); room < g.width(last) {
		limits[last] = room
	}
	return limits
}

func sum(widths []int) (n int) {
	for _, w := range widths {
		n += w
	}
	return n
}

// Without returns the grid without the given columns.
func (g Grid) Without(columns ...int) Grid {
	slices.Sort(columns)
	for _, c := range slices.Backward(columns) {
		g = g.withoutColumn(c)
	}
	return g
}

// withoutColumn returns the grid without a column, and adjusts the indices of the others.
func (g Grid) withoutColumn(column int) Grid {
	cut := func(row []string) []string {
		if column >= len(row) {
			return row
		}
		return slices.Delete(slices.Clone(row), column, column+1)
	}
	shift := func(columns []int) []int {
		var out []int
		for _, c := range columns {
			switch {
			case c > column:
				out = append(out, c-1)
			case c < column:
				out = append(out, c)
			}
		}
		return out
	}
	g.Header, g.Right, g.Whole, g.Spare = cut(g.Header), shift(g.Right), shift(g.Whole), shift(g.Spare)
	rows := make([][]string, len(g.Rows))
	for i, row := range g.Rows {
		rows[i] = cut(row)
	}
	g.Rows = rows
	return g
}

// WithoutBlank returns the grid without its blank columns.
func (g Grid) WithoutBlank() Grid {
	if len(g.Rows) == 0 {
		return g
	}
	all := make([]int, len(g.Header))
	for i := range all {
		all[i] = i
	}
	return g.Without(g.Blank(all...)...)
}

// Blank returns those of the given columns that are empty or "-" in all rows.
func (g Grid) Blank(columns ...int) []int {
	return slices.DeleteFunc(slices.Clone(columns), func(c int) bool {
		return slices.ContainsFunc(g.Rows, func(row []string) bool { return c < len(row) && row[c] != "" && stripColor(row[c]) != "-" })
	})
}

// Constant reports whether a column has the same value in all rows.
func (g Grid) Constant(column int) bool {
	values := map[string]bool{}
	for _, row := range g.Rows {
		if row == nil {
			continue
		}
		value := "" // of a short row
		if column < len(row) {
			value = row[column]
		}
		values[value] = true
	}
	return len(values) < 2
}

func withoutRules(rows [][]string) [][]string {
	out := make([][]string, 0, len(rows))
	for _, row := range rows {
		if row != nil {
			out = append(out, row)
		}
	}
	return out
}

func cells(row []string) table.Row {
	out := make(table.Row, len(row))
	for i, s := range row {
		out[i] = s
	}
	return out
}
