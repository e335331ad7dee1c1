package report

import (
	"math"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// scored reports whether any checkpoint of r has a score, so that renderings
// for people have room for it.
func (r *Results) scored() bool {
	for i := range r.Cells {
		for j := range r.Cells[i].Checkpoints {
			if c := &r.Cells[i].Checkpoints[j]; c.Score != nil || c.ScoreUnbounded != nil {
				return true
			}
		}
	}
	return false
}

// exact is a number as it is, in the fewest digits that read back as it; ""
// for none.
func exact(n *float64) string {
	if n == nil {
		return ""
	}
	if size := math.Abs(*n); size >= 1e21 || size > 0 && size < 1e-6 {
		return strconv.FormatFloat(*n, 'e', -1, 64)
	}
	return strconv.FormatFloat(*n, 'f', -1, 64)
}

// rounded is a score for people: at most four digits after the point; "-" for
// none. What is not quite a whole number has all of its digits, so that it does
// not look like one.
func rounded(n *float64) string {
	if n == nil {
		return "-"
	}
	if math.Abs(*n) >= 1e9 {
		return text.Number(*n, 0)
	}
	short := strconv.FormatFloat(math.Round(*n*1e4)/1e4, 'f', -1, 64)
	if back, err := strconv.ParseFloat(short, 64); err == nil && back == math.Trunc(back) && back != *n {
		return exact(n)
	}
	return short
}
