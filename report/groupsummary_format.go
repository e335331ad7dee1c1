package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// GroupFormats lists the formats of WriteGroups.
func GroupFormats() []string { return []string{"table", "json", "markdown"} }

// WriteGroups renders the summaries of r's groups by axes. An unknown format is an error that lists the
// supported ones.
func WriteGroups(w io.Writer, format string, r *Results, axes []string, ks []int, o Options) error {
	all := SummarizeGroups(r, axes, ks)
	var err error
	switch format {
	case "table":
		grid := groupGrid(all, axes, ks, o.Verbose, text.Line)
		grid = grid.On(o.Page)
		_, err = io.WriteString(w, grid.Text())
	case "markdown":
		grid := groupGrid(all, axes, ks, o.Verbose, text.Markdown)
		_, err = io.WriteString(w, grid.Markdown())
	case "json":
		err = encoder(w).Encode(groupsJSON(r.Run, all, axes, ks))
	default:
		return text.Unknown("format", format, GroupFormats())
	}
	if err != nil {
		return fmt.Errorf("writing groups as %s: %w", format, err)
	}
	return nil
}

// groupGrid returns the summaries as a table without empty columns. With bounds, it shows the range of each
// mean if all cells had a verdict.
func groupGrid(all []GroupSummary, axes []string, ks []int, bounds bool, safe func(string, int) string) text.Grid {
	header, from := slices.Clone(axes), len(axes)
	header = append(header, "cells", "solved", "unjudged", "scored", "mean", "bounds", "min", "max", "mean of scored", "unbounded mean", "unbounded min", "unbounded max", "unbounded mean of scored")
	for _, k := range ks {
		header = append(header, fmt.Sprintf("pass@%d", k), fmt.Sprintf("best of %d", k))
	}
	header = append(header, "not finite")
	var rows [][]string
	unjudged := 0
	for _, s := range all {
		var row []string
		for _, value := range s.Group {
			row = append(row, safe(orName(value, "-"), nameColumns))
		}
		row = append(row, strconv.Itoa(s.Cells), solvedText(s), strconv.Itoa(s.Cells-s.Judged))
		scored := s.Score
		if scored.All.N == 0 {
			scored = s.Unbounded
		}
		row = append(row, scoredText(scored))
		unjudged += s.Cells - s.Judged
		means := meansOf(s.Score)
		row = append(append(row, means[0], boundsText(s.Score, bounds)), means[1:]...)
		row = append(row, meansOf(s.Unbounded)...)
		for i := range ks {
			row = append(row, estimateText(s.PassAt[i], 3), estimateText(s.BestOf[i], 2))
		}
		notFinite := "-"
		if s.NotFinite > 0 {
			notFinite = strconv.Itoa(s.NotFinite)
		}
		rows = append(rows, append(row, notFinite))
	}
	grid := text.Grid{Header: header, Rows: rows}
	if unjudged > 0 && slices.ContainsFunc(all, func(s GroupSummary) bool { return s.Score.Missing+s.Unbounded.Missing > 0 }) {
		grid.Footer = "*: without cells that have no verdict; -v shows how they could change it."
	}
	var figures []int
	for c := from; c < len(header); c++ {
		figures = append(figures, c)
	}
	grid.Right = figures
	if len(rows) > 0 {
		grid = grid.Without(grid.Blank(figures...)...)
	}
	grid.Spare = spareFigures(grid.Header, from)
	return grid
}

// spareFigures returns the columns that a narrow table omits, the first to go first: scores without a bound if there
// are bounded ones, then the least informative ones.
func spareFigures(header []string, from int) (spare []int) {
	unbounded := slices.Index(header, "unbounded mean")
	if !slices.Contains(header, "mean") {
		unbounded = -1
	}
	for c := max(unbounded, 0); unbounded >= from && c < len(header) && !strings.Contains(header[c], "@"); c++ {
		spare = append(spare, c)
	}
	for _, name := range []string{"best of", "min", "max", "mean of", "unjudged"} {
		for c := from; c < len(header); c++ {
			if strings.HasPrefix(strings.TrimPrefix(header[c], "unbounded "), name) && !slices.Contains(spare, c) {
				spare = append(spare, c)
			}
		}
	}
	return spare
}

// solvedText returns the number of solved cells, and of how many if some lack a pass rule; "-" if all do.
func solvedText(s GroupSummary) string {
	switch s.Ruled {
	case 0:
		return "-"
	case s.Cells:
		return strconv.Itoa(s.Solved)
	}
	return fmt.Sprintf("%d of %d", s.Solved, s.Ruled)
}

// scoredText returns how many of the cells that could have a score have one: "3 of 5".
func scoredText(s verdict.ScoreSummaries) string {
	if s.All.N+s.Missing == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", s.Scored.N, s.All.N+s.Missing)
}

// meansOf returns mean, minimum and maximum over all cells and, if it differs, the mean over cells with a
// score.
func meansOf(s verdict.ScoreSummaries) []string {
	if s.All.N == 0 {
		return []string{"-", "-", "-", "-"}
	}
	scored := "-"
	if s.Scored.N > 0 && s.Scored.N < s.All.N {
		scored = formatRounded(&s.Scored.Mean)
	}
	mean := formatRounded(&s.All.Mean)
	if s.Missing > 0 {
		mean += "*"
	}
	return []string{mean, formatRounded(&s.All.Min), formatRounded(&s.All.Max), scored}
}

// boundsText returns the range of the mean if the cells without a verdict had one: "47.1 to 97.1".
func boundsText(s verdict.ScoreSummaries, wanted bool) string {
	if !wanted || s.Missing == 0 {
		return "-"
	}
	least, most := s.Bounds(verdict.Points)
	return formatRounded(&least) + " to " + formatRounded(&most)
}

// estimateText returns a text such as "0.620 [0.480, 0.750]"; a star means that some problems had too few
// attempts.
func estimateText(e statistics.Estimate, digits int) string {
	if !e.Known {
		return "-"
	}
	out := strconv.FormatFloat(e.Value, 'f', digits, 64)
	if e.Interval.Known {
		out += fmt.Sprintf(" [%.*f, %.*f]", digits, e.Low, digits, e.High)
	}
	if e.Short > 0 {
		out += "*"
	}
	return out
}

type groupJSON struct {
	Group     map[string]string `json:"group"`
	Cells     int               `json:"cells"`
	Judged    int               `json:"judged"`
	Ruled     int               `json:"ruled"`
	Solved    int               `json:"solved"`
	Success   int               `json:"success"`
	Error     int               `json:"error"`
	Timeout   int               `json:"timeout"`
	Skipped   int               `json:"skipped"`
	Broken    int               `json:"broken"`
	NotFinite int               `json:"not_finite"`
	Score     *summaryJSON      `json:"score"`
	Unbounded *summaryJSON      `json:"score_unbounded"`
	PassAt    []estimateJSON    `json:"pass_at"`
	BestOf    []estimateJSON    `json:"best_of"`
}

type summaryJSON struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	Max  float64 `json:"max"`
	// Scored is the number of cells in N with a score. The others count as the lowest score.
	Scored     int      `json:"scored"`
	ScoredMean *float64 `json:"scored_mean"`     // over cells with a score
	Missing    int      `json:"without_verdict"` // not part of N
}

type estimateJSON struct {
	K      int      `json:"k"`
	Value  *float64 `json:"value"`
	Low    *float64 `json:"low"`
	High   *float64 `json:"high"`
	Method string   `json:"method,omitempty"`
	Units  int      `json:"problems"`
	Short  int      `json:"too_few_attempts"`
}

// GroupsObject encodes the summaries of groups as JSON.
type GroupsObject struct {
	Schema     int         `json:"schema"`
	Run        string      `json:"run"`
	By         []string    `json:"by"`
	Confidence float64     `json:"confidence"`
	Rows       []groupJSON `json:"rows"`
}

func groupsJSON(run string, all []GroupSummary, axes []string, ks []int) *GroupsObject {
	rows := []groupJSON{}
	for _, s := range all {
		row := groupJSON{
			Group: map[string]string{}, Cells: s.Cells, Judged: s.Judged, Ruled: s.Ruled, Solved: s.Solved, NotFinite: s.NotFinite,
			Success: s.Statuses[verdict.Success], Error: s.Statuses[verdict.Error], Timeout: s.Statuses[verdict.TimedOut], Skipped: s.Statuses[verdict.Skipped], Broken: s.Statuses[verdict.Broken],
			Score: summaryOrNull(s.Score), Unbounded: summaryOrNull(s.Unbounded), PassAt: []estimateJSON{}, BestOf: []estimateJSON{},
		}
		for i, axis := range axes {
			row.Group[axis] = s.Group[i]
		}
		for i, k := range ks {
			row.PassAt, row.BestOf = append(row.PassAt, estimateOrNull(k, s.PassAt[i])), append(row.BestOf, estimateOrNull(k, s.BestOf[i]))
		}
		rows = append(rows, row)
	}
	return &GroupsObject{Schema: Schema, Run: run, By: axes, Confidence: statistics.Confidence, Rows: rows}
}

func summaryOrNull(s verdict.ScoreSummaries) *summaryJSON {
	if s.All.N == 0 {
		return nil
	}
	out := &summaryJSON{N: s.All.N, Mean: s.All.Mean, Min: s.All.Min, Max: s.All.Max, Scored: s.Scored.N, Missing: s.Missing}
	if s.Scored.N > 0 {
		out.ScoredMean = &s.Scored.Mean
	}
	return out
}

func estimateOrNull(k int, e statistics.Estimate) estimateJSON {
	out := estimateJSON{K: k, Method: e.Method, Units: e.Units, Short: e.Short}
	if e.Known {
		out.Value = &e.Value
	}
	if e.Interval.Known {
		out.Low, out.High = &e.Low, &e.High
	}
	return out
}
