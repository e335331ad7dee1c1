package page

import (
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// heat is the matrix of problems and solutions, in display order.
type heat struct {
	Problems  []string `json:"problems"`  // from easy to hard
	Solutions []string `json:"solutions"` // from best to worst
	// Share is the share of each pair, row by row, null without a verdict. It is omitted if each pair has at
	// most one cell, whose share it would be.
	Share numbers `json:"share"`
	// Missing is the number of cells without a verdict, by the pair's index in Share; pairs without such cells
	// are omitted.
	Missing map[int]int `json:"missing"`
}

func heatOf(m *report.Matrix) heat {
	h := heat{Problems: m.Problems, Solutions: m.Solutions, Missing: map[int]int{}}
	if h.Problems == nil {
		h.Problems, h.Solutions = []string{}, []string{}
	}
	several := false
	for _, problem := range m.Problems {
		for _, solution := range m.Solutions {
			var share *float64
			if p := m.Pair(problem, solution); p != nil {
				if several = several || p.Cells > 1; p.Missing > 0 {
					h.Missing[len(h.Share)] = p.Missing
				}
				if statistics.Finite(p.Share) {
					share = thousandths(p.Share)
				}
			}
			h.Share = append(h.Share, share)
		}
	}
	if !several {
		h.Share = nil
	}
	return h
}
