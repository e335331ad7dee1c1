package page

import (
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// mostCompared limits the contenders that are compared in pairs: the work grows with their square.
const mostCompared = 24

// board ranks the values on an axis by a metric, from best to worst.
type board struct {
	Axis   string      `json:"axis"`
	Metric string      `json:"metric"`
	Rows   []boardLine `json:"rows"`
	At     []int       `json:"at,omitempty"` // numbers of attempts for Best of the rows
	// Note describes the clusters of problems; "" means that they have none.
	Note string `json:"note,omitempty"`
}

type boardLine struct {
	Name     string   `json:"name"`
	Mean     *float64 `json:"mean"` // mean over problems; null without a verdict
	Low      *float64 `json:"low,omitempty"`
	High     *float64 `json:"high,omitempty"`
	Problems int      `json:"problems"` // with a verdict
	Attempts int      `json:"attempts"` // cells with one
	Missing  int      `json:"missing"`  // cells without
	// Groups are letters. Rows that share no letter differ significantly; "" means not compared.
	Groups string `json:"groups,omitempty"`
	// Best is pass@k, or the expected best score of k attempts, for each k of At; null if problems have too few
	// attempts.
	Best []*float64 `json:"best,omitempty"`
}

// contendersOf ranks the values on each axis on which cells differ, by each metric. If there are few, it also
// compares pairs.
func contendersOf(r *report.Results) []*report.Contenders {
	labels := map[string]bool{}
	for i := range r.Cells {
		for label := range r.Cells[i].Labels {
			labels[label] = true
		}
	}
	var all []*report.Contenders
	for _, axis := range append([]string{"solution", "problem", "backend"}, slices.Sorted(maps.Keys(labels))...) {
		for _, metric := range report.Metrics {
			ranked := report.Rank(r, axis, metric)
			if len(ranked.All) < 2 {
				continue
			}
			// Two problems share no problem to compare them on.
			if axis != "problem" && len(ranked.All) <= mostCompared {
				if compared, err := report.Compare(r, axis, metric, nil, ""); err == nil {
					ranked = compared
				}
			}
			all = append(all, ranked)
		}
	}
	return all
}

// attemptsAt lists the k of the best of k attempts in boards.
var attemptsAt = []int{1, 2, 3, 5, 10, 20, 50, 100}

// addAttempts adds the best of k attempts to boards by "solved" and "score", if there are repeats.
func addAttempts(r *report.Results, boards []board) {
	most := 0
	for i := range r.Cells {
		most = max(most, r.Cells[i].Repeat)
	}
	ks := attemptsAt[:0:0]
	for _, k := range attemptsAt {
		if k <= most {
			ks = append(ks, k)
		}
	}
	if len(ks) < 2 {
		return
	}
	for i := range boards {
		b := &boards[i]
		if b.Axis == "problem" || len(b.Rows) > mostCompared || b.Metric != "solved" && b.Metric != "score" {
			continue
		}
		of := map[string][]statistics.Estimate{}
		for _, g := range report.SummarizeGroups(r, []string{b.Axis}, ks) {
			of[g.Group[0]] = g.PassAt
			if b.Metric == "score" {
				of[g.Group[0]] = g.BestOf
			}
		}
		b.At = ks
		for k := range b.Rows {
			for _, e := range of[b.Rows[k].Name] {
				b.Rows[k].Best = append(b.Rows[k].Best, nil)
				if e.Known {
					b.Rows[k].Best[len(b.Rows[k].Best)-1] = &e.Value
				}
			}
		}
	}
}

func boardOf(c *report.Contenders) board {
	b := board{Axis: c.By, Metric: c.Metric, Note: c.ClusterNote()}
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
