package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/maruel/natural"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// Matrix holds the results of each solution at each problem: problems from easy to hard, solutions from best to
// worst.
type Matrix struct {
	Problems, Solutions []string
	pairs               map[[2]string]*MatrixPair
}

// MatrixPair is the result of a solution at a problem.
type MatrixPair struct {
	Share   float64 // of checkpoints that passed, or of 100 points: mean over backends of the means of attempts; NaN without a verdict
	Scored  bool
	Cells   int
	Missing int // cells without a verdict

	units map[string][]float64
}

// Pair returns a pair, or nil if it has no cell.
func (m *Matrix) Pair(problem, solution string) *MatrixPair {
	return m.pairs[[2]string{problem, solution}]
}

// CellShare returns the share of a cell's checkpoints that passed, or of 100 points; false without a verdict.
func CellShare(c *Cell) (share float64, ok bool) {
	s := c.Sample()
	if s.Scored() {
		v, ok := verdict.ScoreValue(&s)
		return v / verdict.Points.Best, ok
	}
	return verdict.ShareValue(&s)
}

// MatrixOf returns the matrix of results.
func MatrixOf(r *Results) *Matrix {
	m := &Matrix{pairs: map[[2]string]*MatrixPair{}}
	for i := range r.Cells {
		c := &r.Cells[i]
		at := [2]string{c.Problem, c.Solution}
		p := m.pairs[at]
		if p == nil {
			p = &MatrixPair{Share: math.NaN(), units: map[string][]float64{}}
			m.pairs[at] = p
		}
		s := c.Sample()
		p.Cells, p.Scored = p.Cells+1, s.Scored()
		if v, ok := CellShare(c); ok {
			p.units[c.Backend] = append(p.units[c.Backend], v)
		} else {
			p.Missing++
		}
	}
	problems, solutions := map[string][]float64{}, map[string][]float64{}
	for _, at := range slices.SortedFunc(maps.Keys(m.pairs), func(a, b [2]string) int {
		return cmp.Or(natural.Compare(a[0], b[0]), natural.Compare(a[1], b[1]))
	}) {
		p := m.pairs[at]
		problems[at[0]], solutions[at[1]] = append(problems[at[0]], nil...), append(solutions[at[1]], nil...)
		if len(p.units) == 0 {
			continue
		}
		var means []float64
		for _, unit := range slices.Sorted(maps.Keys(p.units)) {
			means = append(means, statistics.Mean(p.units[unit]))
		}
		p.Share = statistics.Mean(means)
		problems[at[0]], solutions[at[1]] = append(problems[at[0]], p.Share), append(solutions[at[1]], p.Share)
	}
	m.Problems, m.Solutions = byMean(problems, r.lower()), byMean(solutions, r.lower())
	return m
}

// byMean sorts names by the mean of their values, the best first. Names without values are last.
func byMean(values map[string][]float64, lower bool) []string {
	mean := func(name string) float64 {
		if len(values[name]) == 0 {
			return math.NaN()
		}
		return statistics.Mean(values[name])
	}
	return slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		x, y := mean(b), mean(a)
		if lower && !math.IsNaN(x) && !math.IsNaN(y) {
			x, y = y, x
		}
		return cmp.Or(cmp.Compare(x, y), natural.Compare(a, b))
	})
}

// writeSVG draws the matrix.
func writeSVG(w io.Writer, r *Results, _ Options) error {
	f := MatrixOf(r).Figure()
	return f.WriteSVG(w)
}

// Limits of a drawn matrix; its data has all rows and columns.
const mostDrawnProblems, mostDrawnSolutions = 120, 60

// Figure draws the matrix.
func (m *Matrix) Figure() draw.Figure {
	f := draw.Figure{Name: "matrix", Title: "Share of checkpoints that passed, by problem and solution",
		Note:    "Of problems that give scores, the share of 100 points. Problems are from easy to hard, solutions from the best down. " + noVerdict + ": no verdict.",
		Columns: []string{"problem", "solution", "share", "cells", "without_verdict"}}
	for _, problem := range m.Problems {
		for _, solution := range m.Solutions {
			if p := m.Pair(problem, solution); p != nil {
				f.Rows = append(f.Rows, fields(problem, solution, p.Share, p.Cells, p.Missing))
			}
		}
	}
	problems, solutions := m.Problems[:min(len(m.Problems), mostDrawnProblems)], m.Solutions[:min(len(m.Solutions), mostDrawnSolutions)]
	f.Note += leftOut(len(m.Problems)-len(problems), "problem") + leftOut(len(m.Solutions)-len(solutions), "solution")
	f.Plot = func(width float64) *draw.Drawing { return m.draw(width, problems, solutions) }
	return f
}

const noVerdict = "·"

func leftOut(n int, noun string) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" %s are left out of the drawing.", text.Count(n, "more "+noun))
}

func (m *Matrix) draw(width float64, problems, solutions []string) *draw.Drawing {
	left, top := nameWidth(problems, 0.3*width), min(nameWidth(solutions, 130), 130)
	const high = 20
	wide := min(44, (width-left-8)/float64(max(1, len(solutions))))
	d := &draw.Drawing{Width: width, Height: top + high*float64(len(problems)) + 6}
	for k, solution := range solutions {
		if wide >= 9 {
			d.TurnedText(left+wide*(float64(k)+0.5), top-6, "ftext", draw.Fit(solution, top-8))
		}
	}
	for i, problem := range problems {
		y := top + high*float64(i)
		d.Text(left-8, y+high/2, "end", "ftext", draw.Fit(problem, left-16))
		for k, solution := range solutions {
			p := m.Pair(problem, solution)
			if p == nil {
				continue
			}
			x := left + wide*float64(k)
			title := fmt.Sprintf("%s, %s: ", problem, solution)
			if math.IsNaN(p.Share) {
				d.Text(x+wide/2, y+high/2, "middle", "fdim", noVerdict)
				d.Rectangle(x+0.5, y+0.5, wide-1, high-1, "fback clear kgrid", title+"no verdict")
				continue
			}
			shade := draw.ShadeOf(p.Share)
			d.Rectangle(x+0.5, y+0.5, wide-1, high-1, fmt.Sprintf("fh%d", shade), title+percent(p.Share))
			if wide >= 24 {
				d.Text(x+wide/2, y+high/2, "middle", fmt.Sprintf("small fon%d", shade), strconv.Itoa(int(math.Round(100*p.Share))))
			}
		}
	}
	return d
}

// nameWidth returns the width of the longest name in pixels, up to a limit.
func nameWidth(names []string, limit float64) float64 {
	width := 40.0
	for _, name := range names {
		width = max(width, draw.TextWidth(name)+24)
	}
	return min(width, limit)
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(1000*share)/10, 'f', 1, 64) + " %"
}

// formatFull formats a number with all digits, and NaN as "".
func formatFull(v float64) string {
	if !statistics.Finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
