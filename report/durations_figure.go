package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

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
	plot := rowPlot{right: 110, scale: draw.Scale{From: max(least, most/1e6), To: most, Log: true}, tick: text.Duration}
	for _, r := range rows {
		plot.names = append(plot.names, r.kind)
		f.Rows = append(f.Rows, fields(r.kind, r.n, r.total, r.Min, r.Low, r.Median, r.High, r.Max))
	}
	plot.mark = func(d *draw.Drawing, s draw.Scale, i int, y float64) {
		r := rows[i]
		box(d, s, y, r.Spread, fmt.Sprintf("%s: median %s, quartiles %s and %s, from %s to %s", r.kind, text.Duration(r.Median), text.Duration(r.Low), text.Duration(r.High), text.Duration(r.Min), text.Duration(r.Max)))
		d.Text(s.End+52, y, "end", "fdim small", text.Thousands(r.n)+"×")
		d.Text(s.End+104, y, "end", "ftext small", text.Duration(r.total))
	}
	f.Plot = plot.draw
	return f, len(rows) > 0
}
