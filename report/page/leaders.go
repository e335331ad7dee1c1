package page

import (
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// board ranks the groups of cells that have the same on an axis.
type board struct {
	Axis string      `json:"axis"`
	Rows []boardLine `json:"rows"`
}

type boardLine struct {
	Name     string  `json:"name"` // "" is a cell without such a label
	Cells    int     `json:"cells"`
	Solved   int     `json:"solved"`
	Ruled    int     `json:"ruled"`
	Unjudged int     `json:"unjudged"`
	Pass     *figure `json:"pass,omitempty"`  // the share that is solved
	Score    *figure `json:"score,omitempty"` // the mean over problems
}

// figure is a number and the interval that it is in with 95 % confidence.
type figure struct {
	Value float64  `json:"value"`
	Low   *float64 `json:"low,omitempty"`
	High  *float64 `json:"high,omitempty"`
	Units int      `json:"units"`
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
		b := board{Axis: axis}
		for _, s := range report.SummarizeGroups(r, []string{axis}, []int{1}) {
			b.Rows = append(b.Rows, boardLine{Name: s.Group[0], Cells: s.Cells, Solved: s.Solved, Ruled: s.Ruled, Unjudged: s.Cells - s.Judged,
				Pass: figureOf(s.PassAt[0]), Score: figureOf(s.BestOf[0])})
		}
		if len(b.Rows) > 1 {
			all = append(all, b)
		}
	}
	return all
}

func figureOf(e statistics.Estimate) *figure {
	if !e.Known {
		return nil
	}
	f := &figure{Value: e.Value, Units: e.Units}
	if e.Bounded {
		f.Low, f.High = &e.Low, &e.High
	}
	return f
}
