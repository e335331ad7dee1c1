package report

import (
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/statistics"
)

// On is the cell's value on an axis: problem, solution, backend, or a label of
// the solution; "" when it has no such label.
func (c *Cell) On(axis string) string {
	switch axis {
	case "problem":
		return c.Problem
	case "solution":
		return c.Solution
	case "backend":
		return c.Backend
	}
	return c.Labels[axis]
}

// Standing is how a group of cells did.
type Standing struct {
	Group     []string // its values on the axes
	Cells     int
	Statuses  map[Status]int
	Solved    int
	NotFinite int // scores that are no numbers; in none of the figures
	Score     statistics.Summary
	Unbounded statistics.Summary
	PassAt    []statistics.Estimate // for each k that was asked for
	BestOf    []statistics.Estimate // likewise; without any score none is known
}

// Standings groups cells by their values on axes, sorted by those, and sums
// each group up.
func Standings(r *Results, axes []string, ks []int) []Standing {
	groups := map[string][]Cell{}
	var order [][]string
	for _, cell := range r.Cells {
		values := make([]string, len(axes))
		for i, axis := range axes {
			values[i] = cell.On(axis)
		}
		key := strings.Join(values, "\x00")
		if groups[key] == nil {
			order = append(order, values)
		}
		groups[key] = append(groups[key], cell)
	}
	slices.SortFunc(order, slices.Compare)
	var all []Standing
	for _, values := range order {
		cells := groups[strings.Join(values, "\x00")]
		s := Standing{Group: values, Cells: len(cells), Statuses: map[Status]int{}, Score: ScoreSummary(cells), Unbounded: UnboundedSummary(cells)}
		for i := range cells {
			s.Statuses[cells[i].Status]++
			if cells[i].Solved() {
				s.Solved++
			}
			if cells[i].NotFinite() {
				s.NotFinite++
			}
		}
		for _, k := range ks {
			s.PassAt = append(s.PassAt, PassAt(cells, k))
			s.BestOf = append(s.BestOf, BestOf(cells, k))
		}
		all = append(all, s)
	}
	return all
}
