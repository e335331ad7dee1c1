package page

import (
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// heat is the matrix of problems and solutions, in the order in which it is shown.
type heat struct {
	Problems  []string `json:"problems"`  // from easy to hard
	Solutions []string `json:"solutions"` // from the best down
	Share     numbers  `json:"share"`     // of each pair, row by row; null without a verdict
	Missing   []int    `json:"missing"`   // cells without a verdict; of each pair
}

func heatOf(m *report.Matrix) heat {
	h := heat{Problems: m.Problems, Solutions: m.Solutions, Share: numbers{}, Missing: []int{}}
	if h.Problems == nil {
		h.Problems, h.Solutions = []string{}, []string{}
	}
	for _, problem := range m.Problems {
		for _, solution := range m.Solutions {
			var share *float64
			missing := 0
			if p := m.Pair(problem, solution); p != nil {
				missing = p.Missing
				if statistics.Finite(p.Share) {
					share = thousandths(p.Share)
				}
			}
			h.Share, h.Missing = append(h.Share, share), append(h.Missing, missing)
		}
	}
	return h
}
