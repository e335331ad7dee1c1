package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// scaleOf returns the scale of the metric's axis: fixed ends, or a range that covers the values.
func (c *Contenders) scaleOf(values []float64) (s draw.Scale) {
	switch c.Metric {
	case "solved", "checkpoints":
		s.From, s.To = verdict.Passes.Worst, verdict.Passes.Best
	case "score":
		s.From, s.To = verdict.Points.Worst, verdict.Points.Best
	default:
		s.From, s.To = rangeAround(values)
	}
	return s
}

// rangeAround returns a range that contains all values and 0.
func rangeAround(values []float64) (from, to float64) {
	for _, v := range values {
		if statistics.Finite(v) {
			from, to = min(from, v), max(to, v)
		}
	}
	if from == to {
		return from - 1, to + 1
	}
	step := draw.Step(to/8 - from/8)
	return statistics.Saturated(math.Floor(from/step) * step), statistics.Saturated(math.Ceil(to/step) * step)
}

// tick formats a value of the axis.
func (c *Contenders) tick(v float64) string {
	if c.Metric == "solved" || c.Metric == "checkpoints" {
		return strconv.FormatFloat(math.Round(1000*v)/10+0, 'f', -1, 64) + " %"
	}
	return strconv.FormatFloat(v+0, 'g', 4, 64) // not -0
}

// bottomAxis draws ticks below a plot, and grid lines up to its top.
func bottomAxis(d *draw.Drawing, s draw.Scale, top, bottom float64, tick func(float64) string) {
	for _, v := range s.Ticks(max(2, int((s.End-s.Start)/70))) {
		d.Line(s.At(v), top, s.At(v), bottom, "kgrid thin", "")
		anchor := "middle"
		if s.At(v)+16 > d.Width {
			anchor = "end"
		}
		d.Text(s.At(v), bottom+11, anchor, "fdim small", tick(v))
	}
}

// LeaderboardFigure draws contenders from best to worst, with the intervals of their means.
func (c *Contenders) LeaderboardFigure() draw.Figure {
	f := draw.Figure{Name: figureName("leaderboard", c.By, c.Metric), Title: metricTitles[c.Metric] + ", by " + c.By,
		Note:    "Means over problems with their 95 % intervals.",
		Columns: []string{c.By, "mean", "low", "high", "problems", "attempts", "without_verdict", "groups"}}
	f.Note += c.lowerNote()
	if c.Groups != nil {
		f.Note += " Rows that share a letter do not differ significantly."
	}
	var values []float64
	for i, one := range c.All {
		if one.Interval.Known {
			values = append(values, one.Interval.Low, one.Interval.High)
		}
		values = append(values, one.Mean)
		f.Rows = append(f.Rows, fields(one.Name, one.Mean, one.Interval, one.Problems, one.Attempts, one.Missing, c.Letters(i)))
	}
	shown := c.All[:min(len(c.All), mostBars)]
	f.Note += leftOut(len(c.All)-len(shown), "row")
	figure := c.figures()
	plot := rowPlot{right: 100, scale: c.scaleOf(values), tick: c.tick}
	for _, one := range shown {
		plot.names = append(plot.names, one.Name)
	}
	plot.mark = func(d *draw.Drawing, s draw.Scale, i int, y float64) {
		one, said := shown[i], "no verdict"
		if one.Problems > 0 {
			said = figure(one.Mean)
			interval(d, s, y, one.Mean, one.Interval, "ks0 thick", "fs0", fmt.Sprintf("%s: %s (%s), %d problems", one.Name, said, intervalText(one.Interval, figure), one.Problems))
		}
		d.Text(s.End+56, y, "end", "ftext", said)
		d.Text(s.End+64, y, "", "fdim small", c.Letters(i))
	}
	f.Plot = plot.draw
	return f
}

// lowerNote is part of a figure's note if lower values are better.
func (c *Contenders) lowerNote() string {
	if c.Lower {
		return " Lower is better."
	}
	return ""
}

// figureName returns the name of a figure's file. Parts can be labels of solutions, which can contain anything.
func figureName(parts ...string) string {
	name := ""
	for _, part := range parts {
		for _, r := range part {
			if r < 0x80 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
				name += string(r)
			} else {
				name += "_"
			}
		}
		name += "-"
	}
	return name[:len(name)-1]
}

// PairsFigure draws the differences of pairs with their intervals: all pairs if there are few, else those with
// the first contender. It returns false if no pair shares a problem.
func (c *Contenders) PairsFigure() (f draw.Figure, ok bool) {
	f = draw.Figure{Name: figureName("pairs", c.By, c.Metric), Title: "Differences, problem by problem, by " + c.By,
		Columns: []string{"a", "b", "problems", "difference", "low", "high", "p", "p_corrected", "shown", "detectable", "better", "equal", "less", "without_verdict"}}
	var shown []*ContenderPair
	first := max(c.Against, 0)
	for i := range c.Pairs {
		p := &c.Pairs[i]
		if p.Problems == 0 {
			continue
		}
		f.Rows = append(f.Rows, fields(c.All[p.A].Name, c.All[p.B].Name, p.Problems, p.Difference, p.Interval, p.P, p.Corrected, p.Shown, p.Detectable, p.Better, p.Equal, p.Less, p.Missing))
		if len(c.Pairs) <= mostPairs || p.A == first || p.B == first {
			shown = append(shown, p)
		}
	}
	if len(shown) == 0 {
		return f, false
	}
	f.Note = "Differences of means over the problems that both attempted, with 95 % intervals. A filled dot is a significant difference (p < 0.05)"
	if len(c.Pairs) > 1 {
		f.Note += fmt.Sprintf(", with p corrected for %d pairs", len(c.Pairs))
	}
	f.Note += "; brackets are the smallest differences that such problems would show in 80 of 100 comparisons." + c.lowerNote()
	if len(shown) < len(f.Rows) {
		f.Note += fmt.Sprintf(" Drawn are the pairs with %s.", c.All[first].Name)
	}
	f.Note += leftOut(len(shown)-mostBars, "pair")
	shown = shown[:min(len(shown), mostBars)]
	f.Plot = c.pairsPlot(shown).draw
	return f, true
}

func (c *Contenders) pairsPlot(pairs []*ContenderPair) *rowPlot {
	reach := 0.0
	plot := &rowPlot{top: 18, right: 120, stack: true, tick: c.tick}
	for _, p := range pairs {
		plot.names = append(plot.names, c.All[p.A].Name+" − "+c.All[p.B].Name)
		for _, v := range []float64{p.Difference, p.Interval.Low, p.Interval.High, p.Detectable} {
			if statistics.Finite(v) {
				reach = max(reach, math.Abs(v))
			}
		}
	}
	_, reach = rangeAround([]float64{reach})
	plot.scale = draw.Scale{From: -reach, To: reach}
	figure := c.figures()
	signed := signedBy(figure)
	plot.mark = func(d *draw.Drawing, s draw.Scale, i int, y float64) {
		const byColumn, pColumn = 54, 110
		if i == 0 {
			d.Line(s.At(0), plot.top, s.At(0), d.Height-24, "kdim thin", "")
			d.Text(s.End+byColumn, 8, "end", "fdim small", "by")
			d.Text(s.End+pColumn, 8, "end", "fdim small", map[bool]string{true: "p (adj.)", false: "p"}[len(c.Pairs) > 1])
		}
		p := pairs[i]
		title := fmt.Sprintf("%s: %s (%s), p %s, %d problems", plot.names[i], signed(p.Difference), intervalText(p.Interval, signed), pText(p.Corrected), p.Problems)
		if statistics.Finite(p.Detectable) {
			title += ", detectable from " + figure(p.Detectable)
			for _, v := range []float64{-p.Detectable, p.Detectable} {
				d.Line(s.At(v), y-6, s.At(v), y+6, "kodd thin", title)
			}
		}
		dot, strong := "fback ks0 wide", "fdim small"
		if p.Shown {
			dot, strong = "fs0 ks0 wide", "ftext strong small"
		}
		interval(d, s, y, p.Difference, p.Interval, "ks0 wide", dot, title)
		d.Text(s.End+byColumn, y, "end", "ftext small", signed(p.Difference))
		d.Text(s.End+pColumn, y, "end", strong, pText(p.Corrected))
	}
	return plot
}
