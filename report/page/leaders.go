package page

import (
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/report"
)

// mostCompared is how many contenders are compared in pairs: the work grows with their square.
const mostCompared = 24

// board orders what cells have on an axis by a metric, the best first.
type board struct {
	Axis   string      `json:"axis"`
	Metric string      `json:"metric"`
	Rows   []boardLine `json:"rows"`
}

type boardLine struct {
	Name     string   `json:"name"`
	Mean     *float64 `json:"mean"` // over problems; null without a verdict
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Problems int      `json:"problems"` // with a verdict
	Attempts int      `json:"attempts"` // cells with one
	Missing  int      `json:"missing"`  // cells without
	// Groups are letters. Rows without one in common are shown to differ; "" is not compared.
	Groups string `json:"groups,omitempty"`
}

// boards are those of each axis on which cells differ.
func boards(r *report.Results) []board {
	labels := map[string]bool{}
	for i := range r.Cells {
		for label := range r.Cells[i].Labels {
			labels[label] = true
		}
	}
	all := []board{}
	for _, axis := range append([]string{"solution", "problem", "backend"}, slices.Sorted(maps.Keys(labels))...) {
		for _, metric := range report.Metrics {
			ranked := report.Rank(r, axis, metric)
			if len(ranked.All) < 2 {
				continue
			}
			// Problems have none in common to be compared at.
			if axis != "problem" && len(ranked.All) <= mostCompared {
				if compared, err := report.Compare(r, axis, metric, nil, ""); err == nil {
					ranked = compared
				}
			}
			all = append(all, boardOf(ranked))
		}
	}
	return all
}

func boardOf(c *report.Contenders) board {
	b := board{Axis: c.By, Metric: c.Metric}
	for i := range c.All {
		one := &c.All[i]
		line := boardLine{Name: one.Name, Problems: one.Problems, Attempts: one.Attempts, Missing: one.Missing}
		if one.Problems > 0 {
			line.Mean = &one.Mean
		}
		if one.Interval.Known {
			line.Low, line.High = &one.Interval.Low, &one.Interval.High
		}
		if len(c.Groups) > 0 {
			line.Groups = c.Letters(i)
		}
		b.Rows = append(b.Rows, line)
	}
	return b
}
