package verdict

import (
	"math"
	"testing"
)

// A contender without a number for bad results does not rank above a contender that always has one: in every
// figure such an attempt counts as the lowest.
func TestNoNumberIsLowest(t *testing.T) {
	sample := func(problem string, score float64) Sample {
		return Sample{Problem: problem, Status: Success, Score: NewScore(score, score), Checkpoints: []CheckpointSummary{{}}}
	}
	for _, none := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var steady, picky []Sample
		for i, problem := range []string{"a", "b", "c", "d"} {
			steady = append(steady, sample(problem, 70))
			if i > 0 {
				picky = append(picky, sample(problem, none))
			} else {
				picky = append(picky, sample(problem, 90))
			}
		}
		if best := BestOf(picky, 1); best.Value != 22.5 || best.Units != 4 {
			t.Errorf("%v: best of 1 is %+v", none, best)
		}
		if mean := ScoreSummary(picky).All.Mean; mean != 22.5 {
			t.Errorf("%v: the mean is %v", none, mean)
		}
		if r := Ratings([][]Sample{steady, picky}); r[0] <= r[1] {
			t.Errorf("%v: ratings %v", none, r)
		}
		if v, ok := ScoreValue(&picky[1]); v != 0 || !ok {
			t.Errorf("%v: the value is %v, %v", none, v, ok)
		}
	}
}
