package view

import (
	"io"
	"slices"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// StatusRow is what is known of one checkpoint of a cell: the last verdict
// and whether it still holds.
type StatusRow struct {
	Problem    string `json:"problem"`
	Checkpoint string `json:"checkpoint"`
	Solution   string `json:"solution"`
	Backend    string `json:"backend"`
	Verdict    string `json:"verdict"`         // "passed", "failed", "broken" ...; empty when there is none
	Core       string `json:"core"`            // "12/12"
	Total      string `json:"total"`           // likewise, over all groups
	State      string `json:"state"`           // "fresh" or "stale"
	Cause      string `json:"cause,omitempty"` // why it is stale
	Note       string `json:"note,omitempty"`  // what to know about the verdict
	// Score of a problem that gives scores; nil is none.
	Score *float64 `json:"score,omitempty"`
	Run   string   `json:"run,omitempty"` // that judged it, or served its verdict last
}

// StatusTable writes rows in the order given, to fit a width; 0 is no limit. The runs are
// shown where there is more than one.
func StatusTable(w io.Writer, rows []StatusRow, color bool, width int) {
	header := []string{"problem", "checkpoint", "solution", "backend", "verdict", "core", "total", "state"}
	runs := slices.ContainsFunc(rows, func(r StatusRow) bool { return r.Run != "" && r.Run != rows[0].Run })
	if runs {
		header = append(header, "run")
	}
	header = append(header, "cause")
	noted := slices.ContainsFunc(rows, func(r StatusRow) bool { return r.Note != "" })
	if noted { // few are, and the column is wide
		header = append(header, "note")
	}
	grid := text.Grid{Header: header, Right: []int{5, 6}, Width: width}
	palette := text.NewPalette(color)
	for i, r := range rows {
		if i > 0 && rows[i-1].Problem != r.Problem {
			grid.Rows = append(grid.Rows, nil)
		}
		grid.Rows = append(grid.Rows, r.cells(palette, runs, noted))
	}
	grid.Spare = grid.Blank(5, 6)
	if grid.Constant(3) {
		grid.Spare = append(grid.Spare, 3)
	}
	io.WriteString(w, grid.Text())
}

func (r StatusRow) cells(palette text.Palette, runs, noted bool) []string {
	line := func(s string) string {
		if s == "" {
			return "-"
		}
		return text.Line(s, 0)
	}
	row := []string{
		line(r.Problem), line(r.Checkpoint), line(r.Solution), line(r.Backend),
		paintVerdict(palette, line(r.Verdict)), line(r.Core), line(r.Total), paintState(palette, line(r.State)),
	}
	if runs {
		row = append(row, line(r.Run))
	}
	row = append(row, text.Line(r.Cause, 0))
	if noted {
		row = append(row, text.Line(r.Note, 0))
	}
	return row
}

func paintVerdict(p text.Palette, word string) string {
	switch word {
	case "passed":
		return p.Good(word)
	case "broken", "blocked":
		return p.Doubt(word)
	case "-", "skipped":
		return p.Quiet(word)
	}
	return p.Bad(word)
}

func paintState(p text.Palette, word string) string {
	switch word {
	case "fresh":
		return p.Quiet(word)
	case "broken":
		return p.Bad(word)
	}
	return p.Doubt(word)
}
