package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// TradeoffFigures draws the mean of a metric against the cost of attempts: session time, and each figure that
// tasks measured of all solutions. It connects solutions that no other beats in both.
func TradeoffFigures(r *Results, metric string) []draw.Figure {
	ranked := Rank(r, "solution", metric)
	costs := map[string]map[string]map[string][]float64{} // by cost, solution and problem
	put := func(what string, c *Cell, v float64) {
		if costs[what] == nil {
			costs[what] = map[string]map[string][]float64{}
		}
		if costs[what][c.Solution] == nil {
			costs[what][c.Solution] = map[string][]float64{}
		}
		costs[what][c.Solution][c.Problem] = append(costs[what][c.Solution][c.Problem], v)
	}
	for i := range r.Cells {
		c := &r.Cells[i]
		s, seconds := c.Sample(), 0.0
		if !s.Judged() {
			continue
		}
		for k := range c.Checkpoints {
			seconds += c.Checkpoints[k].DurationMS / 1000
			for name, v := range c.Checkpoints[k].Figures {
				if statistics.Finite(v) && v > 0 {
					put(name, c, v)
				}
			}
		}
		if seconds > 0 {
			put("", c, seconds)
		}
	}
	var all []draw.Figure
	for _, what := range slices.Sorted(maps.Keys(costs)) {
		var points []tradeoff
		for _, one := range ranked.All {
			problems := costs[what][one.Name]
			if one.Problems == 0 || len(problems) == 0 {
				continue
			}
			var means []float64
			for _, problem := range slices.Sorted(maps.Keys(problems)) {
				means = append(means, statistics.Mean(problems[problem]))
			}
			points = append(points, tradeoff{Contender: one, cost: statistics.Mean(means)})
		}
		if len(points) < 2 {
			continue
		}
		all = append(all, ranked.tradeoffFigure(what, points))
		if len(all) == 4 {
			break
		}
	}
	return all
}

// tradeoff is a solution in a plane of cost and score.
type tradeoff struct {
	Contender
	cost  float64
	front bool // no other point is better in one value and at least as good in the other
}

// markFront sets front for points that no other one beats.
func markFront(points []tradeoff, lower bool) {
	for i := range points {
		p := &points[i]
		p.front = !slices.ContainsFunc(points, func(o tradeoff) bool {
			theirs, own := o.Mean, p.Mean
			if lower {
				theirs, own = own, theirs
			}
			return theirs >= own && o.cost <= p.cost && (theirs > own || o.cost < p.cost)
		})
	}
}

func (c *Contenders) tradeoffFigure(what string, points []tradeoff) draw.Figure {
	axis, column, say := "mean time of an attempt's sessions", "seconds", text.Duration
	if what != "" {
		axis, column, say = "mean "+what, what, func(v float64) string { return text.Number(v, 3) }
	}
	f := draw.Figure{Name: figureName("tradeoff", cmp.Or(what, "time"), c.Metric), Title: metricTitles[c.Metric] + " and " + axis,
		Note:    "Both are means over problems. Upper left is better; the line joins the solutions that no other one beats in both.",
		Columns: []string{"solution", column, "mean", "low", "high", "front"}}
	if c.Lower {
		f.Note = strings.Replace(f.Note, "Upper", "Lower", 1)
	}
	markFront(points, c.Lower)
	var values []float64
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		f.Rows = append(f.Rows, fields(p.Name, p.cost, p.Mean, p.Interval, p.front))
		values, least, most = append(values, p.Mean), min(least, p.cost), max(most, p.cost)
	}
	f.Plot = func(width float64) *draw.Drawing {
		const top, bottom, left = 12, 300, 48
		d := &draw.Drawing{Width: width, Height: bottom + 34}
		x := draw.Scale{From: least / 1.15, To: statistics.Saturated(most * 1.15), Start: left, End: width - 16, Log: true}
		y := c.scaleOf(values)
		y.Start, y.End = bottom, top
		leftAxis(d, y, left, x.End, c.tick)
		for _, v := range x.Ticks(max(3, int(width/110))) {
			d.Line(x.At(v), top, x.At(v), bottom, "kgrid thin", "")
			d.Text(x.At(v), bottom+12, "middle", "fdim small", say(v))
		}
		d.Text((left+x.End)/2, bottom+27, "middle", "fdim small", axis)
		front := slices.DeleteFunc(slices.Clone(points), func(p tradeoff) bool { return !p.front })
		slices.SortFunc(front, func(a, b tradeoff) int { return cmp.Compare(a.cost, b.cost) })
		var line [][2]float64
		for _, p := range front {
			line = append(line, [2]float64{x.At(p.cost), y.At(p.Mean)})
		}
		d.Polyline(line, "ks0 thin dash", "")
		figure := c.figures()
		var taken [][2]float64
		for _, p := range points {
			px, py := x.At(p.cost), y.At(p.Mean)
			title := fmt.Sprintf("%s: %s (%s) at %s", p.Name, figure(p.Mean), intervalText(p.Interval, figure), say(p.cost))
			if p.Interval.Known {
				d.Line(px, y.At(p.Interval.Low), px, y.At(p.Interval.High), "ks0 thin pale", title)
			}
			dot, label := "fback ks0 wide", "fdim small"
			if p.front {
				dot, label = "fs0 ks0 wide", "ftext small"
			}
			d.Dot(px, py, 4.5, dot, title)
			if name := draw.Fit(p.Name, 140); len(points) <= mostNamed || p.front {
				at := [2]float64{px + 9, py - 9}
				if at[0]+draw.TextWidth(name) > width {
					at[0] = px - 9 - draw.TextWidth(name)
				}
				for _, t := range taken { // skip a name that would overlap another
					if math.Abs(t[1]-at[1]) < 11 && math.Abs(t[0]-at[0]) < draw.TextWidth(name) {
						at[1] = t[1] + 12
					}
				}
				if at[1] > bottom-6 {
					continue
				}
				taken = append(taken, at)
				d.Text(at[0], at[1], "", label, name)
			}
		}
		return d
	}
	return f
}

// mostNamed is the number of points up to which all names are drawn.
const mostNamed = 24
