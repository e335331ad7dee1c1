package view

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/maruel/natural"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// StatusRow describes one checkpoint of a cell: the last verdict and whether it is up to date.
type StatusRow struct {
	Problem    string `json:"problem"`
	Checkpoint string `json:"checkpoint"`
	Solution   string `json:"solution"`
	Backend    string `json:"backend"`
	Verdict    string `json:"verdict"`         // "passed", "failed", "broken" ...; empty without a verdict
	Core       string `json:"core"`            // "12/12"
	Total      string `json:"total"`           // of the tests of all groups, "3/3"
	State      string `json:"state"`           // "fresh" or "stale"
	Cause      string `json:"cause,omitempty"` // why it is stale
	Note       string `json:"note,omitempty"`  // a note about the verdict
	// Score is the score of a problem that gives scores, else absent.
	Score *float64 `json:"score,omitempty"`
	Run   string   `json:"run,omitempty"` // that judged it, or served its verdict last
}

// Judged fills in the last verdict of a checkpoint.
func (r *StatusRow) Judged(c *report.Checkpoint) {
	switch class := c.ShownClass(); {
	case class != verdict.Judged:
		r.Verdict = string(class)
	case c.Passed:
		r.Verdict = "passed"
	case !c.Ruled():
		r.Verdict = "scored"
	default:
		r.Verdict = "failed"
	}
	r.Note, r.Score = c.Caveat(), c.Score
	total := c.Groups.Sum(verdict.Groups[:]...)
	r.Core = fmt.Sprintf("%d/%d", c.Groups[verdict.Core].Passed, c.Groups[verdict.Core].Total)
	r.Total = fmt.Sprintf("%d/%d", total.Passed, total.Total)
}

// StatusTable writes rows in the order of results, in which numbers within names count as such, to fit a
// page. Checkpoints keep the order given. It omits empty columns, and the column of runs if there is only
// one.
func StatusTable(w io.Writer, rows []StatusRow, page text.Page) {
	grid := text.Grid{
		Header: []string{"problem", "checkpoint", "solution", "backend", "verdict", "score", "core", "total", "state", "run", "cause", "note"},
		Right:  []int{5, 6, 7},
		Whole:  []int{9},
	}
	palette := text.NewPalette(page.Color)
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b StatusRow) int {
		return cmp.Or(natural.Compare(a.Problem, b.Problem), natural.Compare(a.Solution, b.Solution), natural.Compare(a.Backend, b.Backend))
	})
	for i, r := range rows {
		if i > 0 && rows[i-1].Problem != r.Problem {
			grid.Rows = append(grid.Rows, nil)
		}
		grid.Rows = append(grid.Rows, r.cells(palette))
	}
	for _, same := range []int{3, 0} {
		if grid.Constant(same) {
			grid.Spare = append(grid.Spare, same)
		}
	}
	if grid.Constant(9) {
		grid = grid.Without(9)
	}
	io.WriteString(w, grid.WithoutBlank().On(page).Text())
}

func (r StatusRow) cells(palette text.Palette) []string {
	line := func(s string) string {
		if s == "" || s == "0/0" {
			return "-"
		}
		return text.Line(s, 0)
	}
	score, core, total := "-", line(r.Core), line(r.Total)
	if r.Score != nil { // more useful than the number of full cases
		score, core, total = strconv.FormatFloat(*r.Score, 'g', 6, 64), "-", "-"
	}
	return []string{
		line(r.Problem), line(r.Checkpoint), line(r.Solution), line(r.Backend), paintVerdict(palette, line(r.Verdict)), score, core, total,
		paintState(palette, line(r.State)), line(r.Run), text.Line(r.Cause, 0), text.Line(r.Note, 0),
	}
}

func paintVerdict(p text.Palette, word string) string {
	switch word {
	case "passed", "scored":
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
	case "broken", "failed":
		return p.Bad(word)
	}
	return p.Doubt(word)
}
