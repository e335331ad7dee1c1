package text

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	pretty "github.com/jedib0t/go-pretty/v6/text"
)

const (
	gap   = 2  // spaces between columns
	least = 12 // columns that a cut last column keeps
)

// Grid is a table for people. Cells must be safe lines already, see Line;
// they may hold colour.
type Grid struct {
	Header []string
	Rows   [][]string // a nil row draws a line between groups
	Right  []int      // columns, from 0, that hold numbers
	Footer string     // a line under the table
	// Spare are columns that are left out, one by one, while the table is wider than
	// Width: the reader can do without them.
	Spare []int
	// Width is what the table should fit in, 0 for no limit. The last column
	// is cut to fit and then keeps at least 12 columns, so that a narrow
	// terminal wraps rather than hides.
	Width int
}

// Text draws the grid with spaces between columns and a rule below the
// header. It ends in a newline.
func (g Grid) Text() string {
	for ; g.Width > 0 && len(g.Spare) > 0 && sum(g.columns())+least > g.Width; g.Spare = g.Spare[1:] {
		g = g.without(g.Spare[0])
	}
	w := g.writer(g.fit())
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
			line = line[:max(len(line)-gap, 0)] // the gap after the last column
		}
		b.WriteString(line + "\n")
	}
	b.WriteString(g.footer())
	return b.String()
}

// footer is what follows the table.
func (g Grid) footer() string {
	if g.Footer == "" {
		return ""
	}
	return "\n" + g.Footer + "\n"
}

// Markdown draws the grid as a GitHub-flavoured Markdown table. Cells must
// have gone through Markdown and hold no colour.
func (g Grid) Markdown() string {
	g.Rows = withoutRules(g.Rows)
	out := g.writer(g.Rows).RenderMarkdown() + "\n"
	return out + g.footer()
}

func (g Grid) writer(rows [][]string) table.Writer {
	w := table.NewWriter()
	var columns []table.ColumnConfig
	for _, i := range g.Right {
		columns = append(columns, table.ColumnConfig{
			Number: i + 1, Align: pretty.AlignRight, AlignHeader: pretty.AlignRight,
		})
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

// columns are the widths of all columns but the last, with the gaps after them.
func (g Grid) columns() []int {
	widths := make([]int, max(len(g.Header)-1, 0))
	for i := range widths {
		widths[i] = Width(g.Header[i]) + gap
		for _, row := range g.Rows {
			if i < len(row) {
				widths[i] = max(widths[i], Width(row[i])+gap)
			}
		}
	}
	return widths
}

func sum(widths []int) (n int) {
	for _, w := range widths {
		n += w
	}
	return n
}

// Without is the grid without some columns.
func (g Grid) Without(columns ...int) Grid {
	slices.Sort(columns)
	for _, c := range slices.Backward(columns) {
		g = g.without(c)
	}
	return g
}

// without is the grid without a column. In Right and Spare, the numbers of what follows
// it become one less.
func (g Grid) without(column int) Grid {
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
			default:
				out = append(out, -1)
			}
		}
		return out
	}
	g.Header, g.Right, g.Spare = cut(g.Header), slices.DeleteFunc(shift(g.Right), func(c int) bool { return c < 0 }), shift(g.Spare)
	rows := make([][]string, len(g.Rows))
	for i, row := range g.Rows {
		rows[i] = cut(row)
	}
	g.Rows = rows
	return g
}

// Blank are those of some columns that have nothing but "-" in all rows.
func (g Grid) Blank(columns ...int) []int {
	return slices.DeleteFunc(slices.Clone(columns), func(c int) bool {
		return slices.ContainsFunc(g.Rows, func(row []string) bool { return row != nil && stripColor(row[c]) != "-" })
	})
}

// Constant reports whether all rows have the same in a column.
func (g Grid) Constant(column int) bool {
	values := map[string]bool{}
	for _, row := range g.Rows {
		if row != nil {
			values[row[column]] = true
		}
	}
	return len(values) < 2
}

// fit returns the rows with the last column cut to what Width leaves for it.
func (g Grid) fit() [][]string {
	last := len(g.Header) - 1
	if g.Width <= 0 || last < 0 {
		return g.Rows
	}
	room := max(g.Width-sum(g.columns()), least)
	out := make([][]string, len(g.Rows))
	for i, row := range g.Rows {
		if len(row) == last+1 && Width(row[last]) > room {
			row = append([]string(nil), row...)
			row[last] = Cut(stripColor(row[last]), room)
		}
		out[i] = row
	}
	return out
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
