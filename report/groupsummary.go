package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
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

// Axes are those on which some cell has a value: three that all have, then labels in order.
func (r *Results) Axes() []string {
	var labels []string
	for i := range r.Cells {
		labels = slices.AppendSeq(labels, maps.Keys(r.Cells[i].Labels))
	}
	slices.Sort(labels)
	return append([]string{"problem", "solution", "backend"}, slices.Compact(labels)...)
}

// GroupSummary is the figures of a group of cells.
type GroupSummary struct {
	Group     []string // its values on the axes
	Cells     int
	Statuses  map[verdict.Status]int
	Ruled     int // cells with a rule to pass by
	Solved    int // of those
	NotFinite int // scores that are no numbers; in none of the figures
	Judged    int // cells that were judged, or kept from it by the submission
	Score     verdict.ScoreSummaries
	Unbounded verdict.ScoreSummaries
	PassAt    []statistics.Estimate // for each k that was asked for
	BestOf    []statistics.Estimate // likewise; without any score none is known
}

// SummarizeGroups groups cells by their values on axes, sorted by those, and sums
// each group up.
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
