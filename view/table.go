package view

import (
	"io"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// Table writes rows in columns under a header. Each cell is shown on one line, whatever it contains. Rows
// shorter than the header are filled with blanks.
func Table(w io.Writer, header []string, rows [][]string, page text.Page) {
	palette := text.NewPalette(page.Color)
	grid := text.Grid{Header: make([]string, len(header))}
	for i, title := range header {
		grid.Header[i] = palette.Strong(title)
	}
	for _, row := range rows {
		safe := make([]string, len(row))
		for i, cell := range row {
			safe[i] = text.Line(cell, 0)
		}
		grid.Rows = append(grid.Rows, safe)
	}
	page.Fold = true // values of fields are looked up, and copied
	io.WriteString(w, grid.On(page).Text())
}
