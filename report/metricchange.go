package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// MetricChange is the change of a measured figure between two results, over the checkpoints whose figure
// changed.
type MetricChange struct {
	Name       string  `json:"name"` // TASK.METRIC
	Changed    int     `json:"changed"`
	Up         int     `json:"up"`
	Mean       float64 `json:"mean_change"`
	Largest    string  `json:"largest"`        // checkpoint with the largest change
	LargestWas float64 `json:"largest_before"` // its figures
	LargestIs  float64 `json:"largest_after"`

	halves []float64 // of the changes, which are finite
}

// MetricChanges compares the figures of checkpoints that both results contain, and sorts changes by name.
func MetricChanges(before, after *Results) []MetricChange {
	was := map[string]*Checkpoint{}
	for _, row := range rowsOf(before) {
		if len(row.checkpoint.Figures) > 0 {
			was[rowName(row, true)] = row.checkpoint
		}
	}
	if len(was) == 0 {
		return nil
	}
	all := map[string]*MetricChange{}
	for _, row := range rowsOf(after.inOrder(false)) {
		old := was[rowName(row, true)]
		if old == nil || row.checkpoint.State != "" {
			continue
		}
		for name, is := range row.checkpoint.Figures {
			if was, known := old.Figures[name]; known && was != is {
				if all[name] == nil {
					all[name] = &MetricChange{Name: name}
				}
				all[name].add(rowName(row, true), was, is)
			}
		}
	}
	var changes []MetricChange
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		m.Mean = statistics.Saturated(2 * statistics.Mean(m.halves))
		changes = append(changes, *m)
	}
	return changes
}

func (m *MetricChange) add(checkpoint string, was, is float64) {
	half := is/2 - was/2
	m.Changed++
	m.halves = append(m.halves, half)
	if is > was {
		m.Up++
	}
	if math.Abs(half) > math.Abs(m.LargestIs/2-m.LargestWas/2) || m.Changed == 1 {
		m.Largest, m.LargestWas, m.LargestIs = checkpoint, was, is
	}
}

// metricLines renders the changed figures to fit a page.
func (d *Difference) metricLines(page text.Page) string {
	if len(d.Metrics) == 0 {
		return ""
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	g := text.Grid{Header: []string{"figure", "changed", "up", "mean change", "most"}, Right: []int{1, 2, 3}}
	for _, m := range d.Metrics {
		mean := number(m.Mean)
		if m.Mean > 0 {
			mean = "+" + mean
		}
		g.Rows = append(g.Rows, []string{text.Line(m.Name, nameColumns), strconv.Itoa(m.Changed), strconv.Itoa(m.Up), mean,
			fmt.Sprintf("%s -> %s  %s", number(m.LargestWas), number(m.LargestIs), text.Line(m.Largest, 0))})
	}
	return "\n" + strings.TrimRight(g.On(page).Text(), "\n") + "\n"
}
