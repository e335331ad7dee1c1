package view

import (
	"io"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Table writes rows in columns under a header. Each cell is shown on one line, whatever it contains. Rows
// shorter than the header are filled with blanks. Columns with one value are above a table that would be too wide.
func Table(w io.Writer, header []string, rows [][]string, page text.Page) {
	palette := text.NewPalette(page.Color)
	grid := text.Grid{Header: make([]string, len(header))}
	for i, title := range header {
		grid.Header[i] = palette.Strong(title)
	}
	for _, row := range rows {
		safe := make([]string, max(len(row), len(header)))
		for i, cell := range row {
			safe[i] = text.Line(cell, 0)
		}
		grid.Rows = append(grid.Rows, safe)
	}
	for i := 1; i < len(header)-1; i++ {
		if len(rows) > 1 && grid.Constant(i) {
			grid.Spare = append(grid.Spare, i)
		}
	}
	io.WriteString(w, grid.On(page).Text())
}
