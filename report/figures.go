package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

func percentTick(v float64) string { return strconv.Itoa(int(math.Round(100*v))) + " %" }

// dashOf distinguishes series with similar colors.
func dashOf(series int) string { return [...]string{"", "", " dash", " dots"}[series/2%4] }

// leftAxis draws ticks at the left of a plot, and grid lines.
func leftAxis(d *draw.Drawing, s draw.Scale, left, right float64, tick func(float64) string) {
	for _, v := range s.Ticks(max(2, int(math.Abs(s.End-s.Start)/40))) {
		d.Line(left, s.At(v), right, s.At(v), "kgrid thin", "")
		d.Text(left-6, s.At(v), "end", "fdim small", tick(v))
	}
}

// labelEnds writes names at the ends of lines, without overlap.
func labelEnds(d *draw.Drawing, x float64, ends []float64, names []string, width, bottom float64) {
	const apart = 14
	order := make([]int, len(ends))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ends[a], ends[b]) })
	at := make([]float64, len(ends))
	last := -apart + 6.0
	for _, i := range order {
		at[i] = max(ends[i], last+apart)
		last = at[i]
	}
	for n, limit := len(order)-1, bottom; n >= 0; n-- { // move names up that are below the bottom
		at[order[n]] = min(at[order[n]], limit)
		limit = at[order[n]] - apart
	}
	for i := range ends {
		d.Line(x-8, ends[i], x+4, at[i], fmt.Sprintf("thin pale ks%d", i%draw.Series), "")
		d.Text(x+8, at[i], "", fmt.Sprintf("fs%d", i%draw.Series), draw.Fit(names[i], width-x-10))
	}
}

// fields returns values as data: numbers with all digits, unknown ones as "", and an interval as its ends.
func fields(values ...any) (all []string) {
	for _, v := range values {
		switch v := v.(type) {
		case float64:
			all = append(all, formatFull(v))
		case statistics.Interval:
			if !v.Known {
				v.Low, v.High = math.NaN(), math.NaN()
			}
			all = append(all, formatFull(v.Low), formatFull(v.High))
		default:
			all = append(all, fmt.Sprint(v))
		}
	}
	return all
}

// barHeight is the height of a row, mostBars the number of rows that are drawn; data has all.
const (
	barHeight = 24
	mostBars  = 60
)

// rowPlot draws rows with names and marks along one scale.
type rowPlot struct {
	names []string
	top   float64    // above the rows
	right float64    // right of the scale
	stack bool       // names are above their rows if the drawing is narrow
	scale draw.Scale // without its ends in pixels
	tick  func(float64) string
	mark  func(d *draw.Drawing, s draw.Scale, i int, y float64)
}

func (p *rowPlot) draw(width float64) *draw.Drawing {
	left, high, s := nameWidth(p.names, 0.36*width), float64(barHeight), p.scale
	stacked := p.stack && width < 500
	if stacked {
		left, high = 4, 2*barHeight
	}
	s.Start, s.End = left+8, width-p.right
	bottom := p.top + high*float64(len(p.names))
	d := &draw.Drawing{Width: width, Height: bottom + 24}
	bottomAxis(d, s, p.top, bottom, p.tick)
	for i, name := range p.names {
		y := p.top + high*float64(i) + barHeight/2
		if stacked {
			d.Text(left+8, y, "", "ftext", draw.Fit(name, width-20))
			y += barHeight - 4
		} else {
			d.Text(left-8, y, "end", "ftext", draw.Fit(name, left-16))
		}
		p.mark(d, s, i, y)
	}
	return d
}

// interval draws a mean with its interval.
func interval(d *draw.Drawing, s draw.Scale, y, mean float64, of statistics.Interval, line, dot, title string) {
	if of.Known {
		d.Line(s.At(of.Low), y, s.At(of.High), y, line, title)
	}
	d.Dot(s.At(mean), y, 4, dot, title)
}

// box draws quartiles with the median, and a line to the ends.
func box(d *draw.Drawing, s draw.Scale, y float64, of statistics.Spread, title string) {
	at := func(v float64) float64 { return s.At(max(v, s.From)) }
	d.Line(at(of.Min), y, at(of.Max), y, "kdim thin", title)
	d.Rectangle(at(of.Low), y-7, max(1, at(of.High)-at(of.Low)), 14, "fs0 faint ks0", title)
	d.Line(at(of.Median), y-7, at(of.Median), y+7, "ktext wide", title)
}
