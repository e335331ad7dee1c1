package text

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	pretty "github.com/jedib0t/go-pretty/v6/text"
)

const (
	gap   = 2  // spaces between columns
	least = 20 // columns that a cut last column keeps
)

// Grid is a table for people. Cells must be safe lines already, see Line;
// they may hold colour.
type Grid struct {
	Header []string
	Rows   [][]string // a nil row draws a line between groups
	Right  []int      // columns, from 0, that hold numbers
	Footer string     // a line under the table
	// Width is what the table should fit in, 0 for no limit. The last column
	// is cut to fit and then keeps at least 20 columns, so that a narrow
	// terminal wraps rather than hides.
	Width int
}

// Text draws the grid with spaces between columns and a rule below the
// header. It ends in a newline.
func (g Grid) Text() string {
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

// fit returns the rows with the last column cut to what Width leaves for it.
func (g Grid) fit() [][]string {
	last := len(g.Header) - 1
	if g.Width <= 0 || last < 0 {
		return g.Rows
	}
	room := g.Width
	for i, title := range g.Header[:last] {
		column := Width(title)
		for _, row := range g.Rows {
			if i < len(row) {
				column = max(column, Width(row[i]))
			}
		}
		room -= column + gap
	}
	room = max(room, least)
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
