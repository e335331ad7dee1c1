package verdict

import (
	"math"
	"testing"
)

// scored returns an attempt at a problem that gives scores.
func scored(problem string, class Class, score float64) Sample {
	s := Sample{Problem: problem, Backend: "local.host", Status: class.Status(), Checkpoints: []CheckpointSummary{{Class: class, Passed: score > 50}}}
	if class == Judged {
		s.Score = NewScore(score, score)
	}
	return s
}

func TestRatings(t *testing.T) {
	a := []Sample{scored("a", Judged, 250), scored("a", Judged, 50), scored("a", NoScore, 0), scored("b", Judged, -10), scored("b", NotJudged, 0), scored("b", Judged, math.NaN())}
	b := []Sample{scored("a", Judged, 40), scored("b", Judged, 30)}
	// a has 50 against 40 and 0 against 30: even. The third met no other.
	got := Ratings([][]Sample{a, b, {scored("c", NotRun, 0)}})
	if math.Abs(got[0]-got[1]) > 1e-6 || math.Abs(got[0]-1200) > 1e-6 || !math.IsNaN(got[2]) {
		t.Errorf("ratings %v", got)
	}
}

func TestSolvedNeedsEvidence(t *testing.T) {
	passed := CheckpointSummary{Name: "a", Class: Judged, Passed: true}
	for name, try := range map[string]struct {
		sample Sample
		want   bool
	}{
		"passed":                {Sample{Status: Success, Checkpoints: []CheckpointSummary{passed}}, true},
		"no checkpoint":         {Sample{Status: Success}, false},
		"one failed":            {Sample{Status: Success, Checkpoints: []CheckpointSummary{passed, {Name: "b", Class: Judged}}}, false},
		"not judged to the end": {Sample{Status: Error, Checkpoints: []CheckpointSummary{passed}}, false},
		"an unusable input":     {Sample{Status: Success, Checkpoints: []CheckpointSummary{passed, {Name: "b", Class: InputError, Passed: true}}}, false},
	} {
		if got := try.sample.Solved(); got != try.want {
			t.Errorf("%s: solved is %t", name, got)
		}
	}
}
