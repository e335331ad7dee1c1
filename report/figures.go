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

// bounds returns the ends of an interval as data; "" if they are unknown.
func bounds(i statistics.Interval) (low, high string) {
	if !i.Known {
		return "", ""
	}
	return formatFull(i.Low), formatFull(i.High)
}
