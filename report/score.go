package report

import (
	"math"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// hasScores reports whether any checkpoint of r has a score, so that tables have a column for it.
func (r *Results) hasScores() bool {
	for i := range r.Cells {
		for j := range r.Cells[i].Checkpoints {
			if c := &r.Cells[i].Checkpoints[j]; c.Score != nil || c.ScoreUnbounded != nil {
				return true
			}
		}
	}
	return false
}

// formatExact formats a number with the fewest digits that parse back to it; "" for nil.
func formatExact(n *float64) string {
	if n == nil {
		return ""
	}
	if size := math.Abs(*n); size >= 1e21 || size > 0 && size < 1e-6 {
		return strconv.FormatFloat(*n, 'e', -1, 64)
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// formatRounded formats a score with at most four decimals; "-" for nil. A score that rounds to a whole number but is
// not one keeps all digits.
func formatRounded(n *float64) string {
	if n == nil {
		return "-"
	}
	if math.Abs(*n) >= 1e9 {
		return text.Number(*n, 0)
	}
	short := strconv.FormatFloat(math.Round(*n*1e4)/1e4, 'f', -1, 64)
	if back, err := strconv.ParseFloat(short, 64); err == nil && back == math.Trunc(back) && back != *n {
		return formatExact(n)
	}
	return short
}
