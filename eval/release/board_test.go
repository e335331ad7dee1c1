package release

import "testing"

// Means are over problems, of the trials that have a score on both sides, the best first.
func TestCompareScores(t *testing.T) {
	score := func(v float64) *float64 { return &v }
	r := Release{Trials: []Trial{
		{Problem: "a", Agent: "x", Before: score(1), After: score(0), Cause: "test.py changed"},
		{Problem: "a", Agent: "x", Before: score(1), After: score(1)},
		{Problem: "b", Agent: "x", Before: score(1), After: score(1)},
		{Problem: "c", Agent: "x", Before: score(0), Class: Rerun},
		{Problem: "a", Agent: "y", Before: score(0), After: score(1), Cause: "test.py changed"},
	}}
	r.CompareScores()
	if !r.Graded || len(r.Board) != 2 || len(r.Moved) != 1 {
		t.Fatalf("%+v", r)
	}
	first, second := r.Board[0], r.Board[1]
	if first.Agent != "y" || first.Before != 0 || first.After != 1 || first.Low != nil || first.Trials != 1 {
		t.Errorf("first %+v", first)
	}
	if second.Before != 1 || second.After != 0.75 || second.Difference != -0.25 || second.Trials != 3 || second.Again != 1 {
		t.Errorf("second %+v", second)
	}
	if want := (Moved{Cause: "test.py changed", Lower: 1, Higher: 1}); r.Moved[0] != want {
		t.Errorf("moved %+v", r.Moved[0])
	}
}
