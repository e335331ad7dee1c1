package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// On returns the cell's value on an axis: problem, solution, backend, or a label of the solution; "" if it
// lacks the label.
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

// Axes lists the axes on which some cell has a value: problem, solution and backend, then labels in order.
func (r *Results) Axes() []string {
	var labels []string
	for i := range r.Cells {
		labels = slices.AppendSeq(labels, maps.Keys(r.Cells[i].Labels))
	}
	slices.Sort(labels)
	return append([]string{"problem", "solution", "backend"}, slices.Compact(labels)...)
}

// GroupSummary is the statistics of a group of cells.
type GroupSummary struct {
	Group     []string // its values on the axes
	Cells     int
	Statuses  map[verdict.Status]int
	Ruled     int // cells with a pass rule
	Solved    int // part of Ruled
	NotFinite int // scores that are NaN or infinite; excluded from all statistics
	Judged    int // cells that were judged, or failed to be judged because of the submission
	Score     verdict.ScoreSummaries
	Unbounded verdict.ScoreSummaries
	PassAt    []statistics.Estimate // for each requested k
	BestOf    []statistics.Estimate // for each requested k; unknown without scores
}

// SummarizeGroups groups cells by their values on axes, sorts the groups and computes their statistics.
func SummarizeGroups(r *Results, axes []string, ks []int) []GroupSummary {
	groups := map[string][]verdict.Sample{}
	var order [][]string
	for i := range r.Cells {
		values := make([]string, len(axes))
		for j, axis := range axes {
			values[j] = r.Cells[i].On(axis)
		}
		key := strings.Join(values, "\x00")
		if groups[key] == nil {
			order = append(order, values)
		}
		groups[key] = append(groups[key], r.Cells[i].Sample())
	}
	slices.SortFunc(order, slices.Compare)
	var all []GroupSummary
	for _, values := range order {
		s := summarizeGroup(groups[strings.Join(values, "\x00")], ks)
		s.Group = values
		all = append(all, s)
	}
	return all
}

func summarizeGroup(samples []verdict.Sample, ks []int) GroupSummary {
	s := GroupSummary{
		Cells: len(samples), Statuses: map[verdict.Status]int{},
		Score: verdict.ScoreSummary(samples), Unbounded: verdict.UnboundedSummary(samples),
	}
	for i := range samples {
		s.Statuses[samples[i].Status]++
		if samples[i].Judged() {
			s.Judged++
		}
		if samples[i].Ruled() {
			s.Ruled++
		}
		if samples[i].Solved() {
			s.Solved++
		}
		if samples[i].NotFinite() {
			s.NotFinite++
		}
	}
	for _, k := range ks {
		s.PassAt = append(s.PassAt, verdict.PassAt(samples, k))
		s.BestOf = append(s.BestOf, verdict.BestOf(samples, k))
	}
	return s
}
