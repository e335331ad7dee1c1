package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// mostBars limits the rows of a drawing; its data has all rows.
const mostBars = 60

const barHeight = 22

// scaleOf returns the scale of the metric's axis: fixed ends, or a range that covers the values.
func (c *Contenders) scaleOf(values []float64, start, end float64) draw.Scale {
	s := draw.Scale{Start: start, End: end}
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
		low, high := bounds(one.Interval)
		if one.Interval.Known {
			values = append(values, one.Interval.Low, one.Interval.High)
		}
		values = append(values, one.Mean)
		f.Rows = append(f.Rows, []string{one.Name, formatFull(one.Mean), low, high, strconv.Itoa(one.Problems), strconv.Itoa(one.Attempts), strconv.Itoa(one.Missing), c.Letters(i)})
	}
	shown := c.All[:min(len(c.All), mostBars)]
	f.Note += leftOut(len(c.All)-len(shown), "row")
	f.Plot = func(width float64) *draw.Drawing {
		var names []string
		for _, one := range shown {
			names = append(names, one.Name)
		}
		left, right := nameWidth(names, 0.32*width), width-100.0
		if width < 500 {
			right = width - 84
		}
		s := c.scaleOf(values, left, right)
		bottom := barHeight * float64(len(shown))
		d := &draw.Drawing{Width: width, Height: bottom + 24}
		bottomAxis(d, s, 0, bottom, c.tick)
		figure := c.figures()
		for i, one := range shown {
			y := barHeight * (float64(i) + 0.5)
			d.Text(left-10, y, "end", "ftext", draw.Fit(one.Name, left-20))
			said := figure(one.Mean)
			if one.Problems == 0 {
				said = "no verdict"
			}
			title := fmt.Sprintf("%s: %s (%s), %d problems", one.Name, said, intervalText(one.Interval, figure), one.Problems)
			if one.Interval.Known {
				d.Line(s.At(one.Interval.Low), y, s.At(one.Interval.High), y, "ks0 thick", title)
			}
			if one.Problems > 0 {
				d.Dot(s.At(one.Mean), y, 4.5, "fs0", title)
			}
			d.Text(right+56, y, "end", "ftext", said)
			d.Text(right+64, y, "", "fdim small", c.Letters(i))
		}
		return d
	}
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
		low, high := bounds(p.Interval)
		f.Rows = append(f.Rows, []string{c.All[p.A].Name, c.All[p.B].Name, strconv.Itoa(p.Problems), formatFull(p.Difference), low, high, formatFull(p.P), formatFull(p.Corrected), strconv.FormatBool(p.Shown),
			formatFull(p.Detectable), strconv.Itoa(p.Better), strconv.Itoa(p.Equal), strconv.Itoa(p.Less), strconv.Itoa(p.Missing)})
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
	f.Plot = func(width float64) *draw.Drawing { return c.drawPairs(width, shown) }
	return f, true
}

func (c *Contenders) drawPairs(width float64, pairs []*ContenderPair) *draw.Drawing {
	narrow := width < 500
	var names []string
	reach := 0.0
	for _, p := range pairs {
		names = append(names, c.All[p.A].Name+" − "+c.All[p.B].Name)
		for _, v := range []float64{p.Difference, p.Interval.Low, p.Interval.High, p.Detectable} {
			if statistics.Finite(v) {
				reach = max(reach, math.Abs(v))
			}
		}
	}
	_, reach = rangeAround([]float64{reach})
	left, high := nameWidth(names, 0.4*width), float64(barHeight)
	if narrow { // names are above their rows
		left, high = 12, 2*barHeight
	}
	right := width - 120
	if narrow {
		right = width - 104
	}
	s := draw.Scale{From: -reach, To: reach, Start: left, End: right}
	const top, byColumn, pColumn = 18, 54, 100
	bottom := top + high*float64(len(pairs))
	d := &draw.Drawing{Width: width, Height: bottom + 24}
	bottomAxis(d, s, top, bottom, c.tick)
	d.Line(s.At(0), top, s.At(0), bottom, "kdim thin", "")
	d.Text(right+byColumn, 8, "end", "fdim small", "by")
	d.Text(right+pColumn, 8, "end", "fdim small", map[bool]string{true: "p (adj.)", false: "p"}[len(c.Pairs) > 1])
	figure := c.figures()
	signed := signedBy(figure)
	for i, p := range pairs {
		y := top + high*float64(i) + barHeight/2
		if narrow {
			d.Text(left, y, "", "ftext", draw.Fit(names[i], width-20))
			y += barHeight - 4
		} else {
			d.Text(left-10, y, "end", "ftext", draw.Fit(names[i], left-16))
		}
		title := fmt.Sprintf("%s: %s (%s), p %s, %d problems", names[i], signed(p.Difference), intervalText(p.Interval, signed), pText(p.Corrected), p.Problems)
		if statistics.Finite(p.Detectable) {
			title += ", detectable from " + figure(p.Detectable)
			for _, v := range []float64{-p.Detectable, p.Detectable} {
				d.Line(s.At(v), y-6, s.At(v), y+6, "kodd thin", title)
			}
		}
		if p.Interval.Known {
			d.Line(s.At(p.Interval.Low), y, s.At(p.Interval.High), y, "ks0 wide", title)
		}
		dot := "fback ks0 wide"
		if p.Shown {
			dot = "fs0 ks0 wide"
		}
		d.Dot(s.At(p.Difference), y, 4, dot, title)
		d.Text(right+byColumn, y, "end", "ftext small", signed(p.Difference))
		d.Text(right+pColumn, y, "end", map[bool]string{true: "ftext strong small", false: "fdim small"}[p.Shown], pText(p.Corrected))
	}
	return d
}
