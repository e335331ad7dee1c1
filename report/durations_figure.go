package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/draw"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// DurationsFigure draws how long work of each kind took, in seconds.
func DurationsFigure(kinds map[string][]float64) (f draw.Figure, ok bool) {
	f = draw.Figure{Name: "durations", Title: "Durations of what ran, by kind",
		Note:    "Boxes are quartiles with the median, lines go to the ends. At the right: how often, and the time of all together.",
		Columns: []string{"kind", "count", "sum", "min", "quartile_1", "median", "quartile_3", "max"}}
	type row struct {
		kind  string
		n     int
		total float64
		statistics.Spread
	}
	var rows []row
	least, most := math.Inf(1), 0.0
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		values := slices.DeleteFunc(slices.Clone(kinds[kind]), func(v float64) bool { return !(v > 0) })
		if len(values) == 0 {
			continue
		}
		r := row{kind, len(values), 0, statistics.SpreadOf(values)}
		for _, v := range values {
			r.total += v
		}
		rows = append(rows, r)
		least, most = min(least, r.Min), max(most, r.Max)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.total, a.total) })
	var names []string
	for _, r := range rows {
		names = append(names, r.kind)
		f.Rows = append(f.Rows, []string{r.kind, strconv.Itoa(r.n), formatFull(r.total), formatFull(r.Min), formatFull(r.Low), formatFull(r.Median), formatFull(r.High), formatFull(r.Max)})
	}
	f.Plot = func(width float64) *draw.Drawing {
		const high = 26
		left, right := nameWidth(names, 0.3*width), width-110
		bottom := high * float64(len(rows))
		s := draw.Scale{From: max(least, most/1e6), To: most, Start: left + 8, End: right, Log: true}
		d := &draw.Drawing{Width: width, Height: bottom + 22}
		bottomAxis(d, s, 0, bottom, text.Duration)
		for i, r := range rows {
			y := high * (float64(i) + 0.5)
			title := fmt.Sprintf("%s: median %s, quartiles %s and %s, from %s to %s", r.kind, text.Duration(r.Median), text.Duration(r.Low), text.Duration(r.High), text.Duration(r.Min), text.Duration(r.Max))
			at := func(v float64) float64 { return s.At(max(v, s.From)) }
			d.Text(left-8, y, "end", "ftext", draw.Fit(r.kind, left-16))
			d.Line(at(r.Min), y, at(r.Max), y, "kdim thin", title)
			d.Rectangle(at(r.Low), y-7, max(1, at(r.High)-at(r.Low)), 14, "fs0 faint ks0", title)
			d.Line(at(r.Median), y-7, at(r.Median), y+7, "ktext wide", title)
			d.Text(width-58, y, "end", "fdim small", text.Thousands(r.n)+"×")
			d.Text(width-6, y, "end", "ftext small", text.Duration(r.total))
		}
		return d
	}
	return f, len(rows) > 0
}
