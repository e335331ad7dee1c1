package view

import (
	"cmp"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// RunRow describes a recorded run.
type RunRow struct {
	Run       string
	Start     time.Time // zero if unknown
	Selection string    // the selection; "" means everything
	Ended     bool      // otherwise the fields below are unknown
	Seconds   float64
	Executed  int // nodes, as Cached
	Cached    int
	Exit      int
	Verdicts  string // "2 cells, 6 checkpoints: 4 passed, 2 failed"; "" if it has no results
}

// RunTable writes rows to fit a page.
func RunTable(w io.Writer, rows []RunRow, page text.Page) error {
	grid := text.Grid{Header: []string{"run", "began", "took", "ran", "exit", "asked for", "verdicts"}}
	for _, r := range rows {
		grid.Rows = append(grid.Rows, r.cells())
	}
	grid.Spare = append(grid.Blank(5), 1, 2) // an id begins with the time, in UTC
	_, err := io.WriteString(w, grid.On(page).Text())
	return err
}

func (r RunRow) cells() []string {
	began, took, ran, exit, verdicts := "-", "-", "-", "-", "ended without results"
	if !r.Start.IsZero() {
		began = r.Start.Local().Format(time.DateTime)
	}
	if r.Ended {
		took, ran, exit, verdicts = text.Duration(r.Seconds), strconv.Itoa(r.Executed), strconv.Itoa(r.Exit), cmp.Or(r.Verdicts, "-")
		if _, brief, ok := strings.Cut(r.Verdicts, ": "); ok { // without how many cells there were
			verdicts = brief
		}
	}
	return []string{text.Line(r.Run, 0), began, took, ran, exit, text.Line(cmp.Or(r.Selection, "-"), 0), text.Line(verdicts, 0)}
}
