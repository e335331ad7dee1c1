package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// intervalHeader ends the name of a column with intervals.
const intervalHeader = " 95%"

// interval is a confidence interval of a metric's value. The zero interval is unknown.
type interval struct {
	known     bool
	low, high float64
}

// text returns "[0.48, 0.75]" in the format of the metric.
func (i interval) text(format string) string {
	if !i.known {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", metricText(cty.NumberFloatVal(i.low), format), metricText(cty.NumberFloatVal(i.high), format))
}

// metricValue computes a metric over the samples of a row, whose cells expressions see as self.
func metricValue(m lang.Metric, self cty.Value, samples []verdict.Sample, rating float64) (cty.Value, interval, error) {
	switch {
	case m.PassAt > 0:
		v, i := estimated(verdict.PassAt(samples, m.PassAt))
		return v, i, nil
	case m.BestOf > 0:
		v, i := estimated(verdict.BestOf(samples, m.BestOf))
		return v, i, nil
	case m.Elo && math.IsNaN(rating):
		return cty.NullVal(cty.Number), interval{}, nil
	case m.Elo:
		return cty.NumberFloatVal(rating), interval{}, nil
	}
	v, diags := m.Value.Eval(self)
	if diags.HasErrors() {
		return v, interval{}, diags
	}
	return v, interval{}, nil
}

func estimated(e statistics.Estimate) (cty.Value, interval) {
	if !e.Known {
		return cty.NullVal(cty.Number), interval{}
	}
	return cty.NumberFloatVal(e.Value), interval{e.Interval.Known, e.Low, e.High}
}

// ratingsOf rates rows if a metric requires it.
func ratingsOf(r *lang.Result, rows [][]verdict.Sample) []float64 {
	if !slices.ContainsFunc(r.Metrics, func(m lang.Metric) bool { return m.Elo }) {
		return make([]float64, len(rows))
	}
	return verdict.Ratings(rows)
}

// meanValue returns the mean of a summary, or null if it is empty.
func meanValue(s statistics.Summary) cty.Value {
	if s.N == 0 {
		return cty.NullVal(cty.Number)
	}
	return cty.NumberFloatVal(s.Mean)
}

// summaryValue returns the value of a summary of scores for metrics. mean, min and max are null if it is
// empty.
func summaryValue(s statistics.Summary) cty.Value {
	null := cty.NullVal(cty.Number)
	attrs := map[string]cty.Value{"n": cty.NumberIntVal(int64(s.N)), "mean": null, "min": null, "max": null}
	if s.N > 0 {
		attrs["mean"], attrs["min"], attrs["max"] = cty.NumberFloatVal(s.Mean), cty.NumberFloatVal(s.Min), cty.NumberFloatVal(s.Max)
	}
	return cty.ObjectVal(attrs)
}
