package verdict

import (
	"math"

	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// Score is the score of a submission. The zero value means no score; 0 is a score. A number that is not
// finite is kept as text, "nan", "inf" or "-inf", and counts in no figure.
type Score struct {
	Bounded       *float64 `json:"score,omitempty"`           // from 0 to 100, or beyond if the problem specifies it
	Unbounded     *float64 `json:"score_unbounded,omitempty"` // the score without an upper bound
	BoundedText   string   `json:"score_text,omitempty"`
	UnboundedText string   `json:"score_unbounded_text,omitempty"`
}

// NewScore returns the score with two numbers, finite or not.
func NewScore(bounded, unbounded float64) Score {
	var s Score
	s.Bounded, s.BoundedText = NumberOrText(bounded)
	s.Unbounded, s.UnboundedText = NumberOrText(unbounded)
	return s
}

// NumberOrText returns one part of a Score: n itself or, if it is not finite, its text.
func NumberOrText(n float64) (*float64, string) {
	switch {
	case math.IsNaN(n):
		return nil, "nan"
	case math.IsInf(n, 1):
		return nil, "inf"
	case math.IsInf(n, -1):
		return nil, "-inf"
	}
	return &n, ""
}

// NotFinite reports whether a part of the score is not a finite number.
func (s Score) NotFinite() bool { return s.BoundedText+s.UnboundedText != "" }

// clampedScore returns the bounded score for figures, from 0 to 100, or false without one.
func (s Score) clampedScore() (float64, bool) {
	if s.Bounded == nil || !statistics.Finite(*s.Bounded) {
		return 0, false
	}
	return min(max(*s.Bounded, 0), 100), true
}
