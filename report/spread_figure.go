package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

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
	type dot struct {
		value float64
		cell  *Cell
	}
	attempts := map[string][]dot{}
	for i := range r.Cells {
		if v, ok := CellShare(&r.Cells[i]); ok {
			attempts[r.Cells[i].Problem] = append(attempts[r.Cells[i].Problem], dot{v, &r.Cells[i]})
		}
	}
	spreads := map[string]statistics.Spread{}
	for _, problem := range m.Problems {
		var values []float64
		for _, a := range attempts[problem] {
			values = append(values, a.value)
		}
		s := statistics.SpreadOf(values)
		spreads[problem] = s
		row := []string{problem, strconv.Itoa(len(values)), formatFull(s.Min), formatFull(s.Low), formatFull(s.Median), formatFull(s.High), formatFull(s.Max)}
		if len(values) == 0 {
			row = []string{problem, "0", "", "", "", "", ""}
		}
		f.Rows = append(f.Rows, row)
	}
	problems := m.Problems
	if len(problems) > mostBoxes { // equally spread over difficulties
		problems = make([]string, mostBoxes)
		for i := range problems {
			problems[i] = m.Problems[i*(len(m.Problems)-1)/(mostBoxes-1)]
		}
	}
	f.Note += leftOut(len(m.Problems)-len(problems), "problem")
	f.Plot = func(width float64) *draw.Drawing {
		const high = 24
		left, right := nameWidth(problems, 0.32*width), width-20
		bottom := high * float64(len(problems))
		s := draw.Scale{From: 0, To: 1, Start: left + 8, End: right}
		d := &draw.Drawing{Width: width, Height: bottom + 22}
		bottomAxis(d, s, 0, bottom, percentTick)
		for i, problem := range problems {
			y := high * (float64(i) + 0.5)
			d.Text(left-8, y, "end", "ftext", draw.Fit(problem, left-16))
			if len(attempts[problem]) == 0 {
				d.Text(s.Start, y, "", "fdim small", "no verdict")
				continue
			}
			box := spreads[problem]
			title := fmt.Sprintf("%s: median %s, quartiles %s and %s, %d attempts", problem, percent(box.Median), percent(box.Low), percent(box.High), len(attempts[problem]))
			d.Line(s.At(box.Min), y, s.At(box.Max), y, "kdim thin", title)
			d.Rectangle(s.At(box.Low), y-7, max(1, s.At(box.High)-s.At(box.Low)), 14, "fs0 faint ks0", title)
			// Attempts with the same value are one dot, whose size shows their number.
			count := map[float64]int{}
			for _, a := range attempts[problem] {
				count[math.Round(1000*a.value)/1000]++
			}
			for _, v := range slices.Sorted(maps.Keys(count)) {
				d.Dot(s.At(v), y, min(1.6+0.5*math.Sqrt(float64(count[v])), 5), "fs0", fmt.Sprintf("%s: %s with %s", problem, text.Count(count[v], "attempt"), percent(v)))
			}
			d.Line(s.At(box.Median), y-7, s.At(box.Median), y+7, "ktext wide", title)
		}
		return d
	}
	return f
}
