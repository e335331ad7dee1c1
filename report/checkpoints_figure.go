package report

import (
	"fmt"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// CheckpointsFigure draws how many problems each of the best solutions solves at each checkpoint. It returns
// false unless some problem has several checkpoints.
func CheckpointsFigure(r *Results) (f draw.Figure, ok bool) {
	f = draw.Figure{Name: "checkpoints", Title: "Share of problems whose checkpoint passes, by checkpoint",
		Columns: []string{"solution", "checkpoint", "share", "low", "high", "problems"}}
	type key struct {
		solution string
		n        int
	}
	units := map[key]attemptsByUnit{}
	longest := 0
	for i := range r.Cells {
		c := &r.Cells[i]
		if s := c.Sample(); !s.Ruled() || !s.Judged() || s.Scored() {
			continue
		}
		longest = max(longest, len(c.Checkpoints))
		for n := range c.Checkpoints {
			k, u := key{c.Solution, n}, unit{c.Problem, c.Backend}
			if units[k] == nil {
				units[k] = attemptsByUnit{}
			}
			passed := 0.0
			if c.Checkpoints[n].Passed {
				passed = 1
			}
			at := units[k].attemptsAt(u)
			at.Values = append(at.Values, passed)
		}
	}
	if longest < 2 {
		return f, false
	}
	type series struct {
		name   string
		points []Contender
	}
	shares := map[string][]float64{}
	for name, mean := range solutionMeans(r, "checkpoints") {
		if statistics.Finite(mean) {
			shares[name] = []float64{mean}
		}
	}
	var all []series
	for i, one := range byMean(shares, false) {
		s := series{name: one}
		for n := range longest {
			if at := units[key{one, n}]; at != nil {
				p := Contender{Name: one}
				if p.Mean, p.Problems = problemMean(at); i < mostBars {
					p = contender(one, at, verdict.Passes, clusters{})
				}
				s.points = append(s.points, p)
				f.Rows = append(f.Rows, fields(one, n+1, p.Mean, p.Interval, p.Problems))
			}
		}
		if len(s.points) > 0 {
			all = append(all, s)
		}
	}
	f.Note = "Means over the problems that have so many checkpoints: later ones are of fewer problems. Bars are the 95 % intervals of the first and the last." + leftOut(len(all)-draw.Series, "solution")
	all = all[:min(len(all), draw.Series)]
	f.Plot = func(width float64) *draw.Drawing {
		var names []string
		for _, s := range all {
			names = append(names, s.name)
		}
		right := width - nameWidth(names, 0.34*width) - 6
		const top, bottom, left = 10, 270, 44
		d := &draw.Drawing{Width: width, Height: bottom + 34}
		x := draw.Scale{From: 0, To: float64(longest - 1), Start: left + 14, End: right - 10}
		y := draw.Scale{From: 0, To: 1, Start: bottom, End: top}
		leftAxis(d, y, left, right, percentTick)
		for n := range longest {
			if longest <= 12 || n%(longest/6) == 0 {
				d.Text(x.At(float64(n)), bottom+12, "middle", "fdim small", strconv.Itoa(n+1))
			}
		}
		d.Text((left+right)/2, bottom+26, "middle", "fdim small", "checkpoint")
		ends := make([]float64, len(all))
		for k, s := range all {
			role := fmt.Sprintf("s%d", k)
			var points [][2]float64
			for n, p := range s.points {
				if p.Problems > 0 {
					points = append(points, [2]float64{x.At(float64(n)), y.At(p.Mean)})
				}
			}
			if len(points) == 0 {
				continue
			}
			if k == 0 || k == len(all)-1 {
				for n, p := range s.points {
					if p.Interval.Known {
						d.Line(x.At(float64(n)), y.At(p.Interval.Low), x.At(float64(n)), y.At(p.Interval.High), "pale wide k"+role, "")
					}
				}
			}
			d.Polyline(points, "wide k"+role+dashOf(k), s.name)
			for n, p := range s.points {
				if p.Problems > 0 {
					d.Dot(x.At(float64(n)), y.At(p.Mean), 3.5, "f"+role, fmt.Sprintf("%s, checkpoint %d: %s (%s) of %d problems", s.name, n+1, percent(p.Mean), intervalText(p.Interval, percent), p.Problems))
				}
			}
			ends[k] = points[len(points)-1][1]
		}
		labelEnds(d, right, ends, names, width, bottom)
		return d
	}
	return f, true
}
