package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// mostBoxes limits the drawn problems; the data has all.
const mostBoxes = 40

// SpreadFigure draws the results of attempts at each problem.
func SpreadFigure(r *Results, m *Matrix) draw.Figure {
	f := draw.Figure{Name: "spread", Title: "What attempts reached, by problem",
		Note:    "A dot is an attempt: the share of its checkpoints that passed, or of 100 points. Boxes are quartiles with the median, lines go to the ends. Problems are from easy to hard.",
		Columns: []string{"problem", "attempts", "min", "quartile_1", "median", "quartile_3", "max"}}
	attempts := map[string][]float64{}
	for i := range r.Cells {
		if v, ok := CellShare(&r.Cells[i]); ok {
			attempts[r.Cells[i].Problem] = append(attempts[r.Cells[i].Problem], v)
		}
	}
	spreads := map[string]statistics.Spread{}
	for _, problem := range m.Problems {
		values := attempts[problem]
		s := statistics.SpreadOf(values)
		spreads[problem] = s
		if len(values) == 0 {
			s.Min, s.Low, s.Median, s.High, s.Max = math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()
		}
		f.Rows = append(f.Rows, fields(problem, len(values), s.Min, s.Low, s.Median, s.High, s.Max))
	}
	problems := m.Problems
	if len(problems) > mostBoxes { // equally spread over difficulties
		problems = make([]string, mostBoxes)
		for i := range problems {
			problems[i] = m.Problems[i*(len(m.Problems)-1)/(mostBoxes-1)]
		}
	}
	f.Note += leftOut(len(m.Problems)-len(problems), "problem")
	plot := rowPlot{names: problems, right: 20, scale: draw.Scale{From: 0, To: 1}, tick: percentTick}
	plot.mark = func(d *draw.Drawing, s draw.Scale, i int, y float64) {
		problem := problems[i]
		n, of := len(attempts[problem]), spreads[problem]
		if n == 0 {
			d.Text(s.Start, y, "", "fdim small", "no verdict")
			return
		}
		box(d, s, y, of, fmt.Sprintf("%s: median %s, quartiles %s and %s, %d attempts", problem, percent(of.Median), percent(of.Low), percent(of.High), n))
		// Attempts with the same value are one dot, whose size shows their number.
		count := map[float64]int{}
		for _, a := range attempts[problem] {
			count[math.Round(1000*a)/1000]++
		}
		for _, v := range slices.Sorted(maps.Keys(count)) {
			d.Dot(s.At(v), y, min(1.6+0.5*math.Sqrt(float64(count[v])), 5), "fs0", fmt.Sprintf("%s: %s with %s", problem, text.Count(count[v], "attempt"), percent(v)))
		}
	}
	f.Plot = plot.draw
	return f
}
