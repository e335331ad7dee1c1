package report

import (
	"math"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// scoredCell returns a cell of a problem that gives scores.
func scoredCell(problem, model string, status verdict.Status, score float64, passed bool) Cell {
	c := Cell{Problem: problem, Solution: model, Backend: "local.host", Repeat: 1, Labels: map[string]string{"model": model}, Status: status}
	point := Checkpoint{Class: statusClass(status), Passed: passed}
	if status == verdict.Success {
		point.Class = verdict.Judged
		switch {
		case math.IsNaN(score):
			point.ScoreText = "nan"
		default:
			c.Score, c.ScoreUnbounded = &score, &score
		}
	}
	if status == verdict.Error {
		point.Class = verdict.NoScore
	}
	c.Checkpoints = []Checkpoint{point}
	return c
}

func attempts() *Results {
	return &Results{Run: "r", Cells: []Cell{
		scoredCell("a", "gpt", verdict.Success, 250, true),
		scoredCell("a", "gpt", verdict.Success, 50, false),
		scoredCell("a", "gpt", verdict.Error, 0, false),
		scoredCell("b", "gpt", verdict.Success, -10, false),
		scoredCell("b", "gpt", verdict.Broken, 0, false),
		scoredCell("b", "gpt", verdict.Success, math.NaN(), false),
		scoredCell("a", "grok", verdict.Success, 40, true),
		scoredCell("b", "grok", verdict.Success, 30, true),
		scoredCell("c", "none", verdict.Skipped, 0, false),
	}}
}

func TestSummarizeGroups(t *testing.T) {
	all := SummarizeGroups(attempts(), []string{"model"}, []int{1, 2})
	if len(all) != 3 || all[0].Group[0] != "gpt" || all[2].Group[0] != "none" {
		t.Fatalf("%+v", all)
	}
	gpt := all[0]
	if gpt.Cells != 6 || gpt.Solved != 1 || gpt.NotFinite != 1 || gpt.Statuses[verdict.Success] != 4 || gpt.Statuses[verdict.Broken] != 1 {
		t.Errorf("%+v", gpt)
	}
	// Scores are clamped only in aggregates: 100, 50, 0; missing scores count as the lowest.
	if s := gpt.Score.Scored; s.N != 3 || s.Mean != 50 || s.Min != 0 || s.Max != 100 {
		t.Errorf("bounded, of those with a score %+v", s)
	}
	if s := gpt.Score.All; s.N != 5 || s.Mean != 30 || s.Min != 0 || s.Max != 100 {
		t.Errorf("bounded %+v", s)
	}
	if s := gpt.Unbounded.All; s.N != 5 || s.Mean != (250+50-10-2*10)/5.0 || s.Min != -10 || s.Max != 250 {
		t.Errorf("unbounded %+v", s)
	}
	// Means exclude broken cells, whose result could have been any.
	if least, most := gpt.Score.Bounds(verdict.Points); gpt.Score.Missing != 1 || least != 25 || most != 250/6.0 {
		t.Errorf("bounded, from %v to %v", least, most)
	}
	// a: one of three attempts; b: 0 of 2, since the broken one does not count.
	if e := gpt.PassAt[0]; math.Abs(e.Value-(1.0/3+0)/2) > 1e-12 || e.Units != 2 {
		t.Errorf("pass@1 %+v", e)
	}
	if e := gpt.PassAt[1]; math.Abs(e.Value-(2.0/3+0)/2) > 1e-12 || e.Units != 2 || e.Short != 0 {
		t.Errorf("pass@2 %+v", e)
	}
	// a: 100, 50 and, for the error, 0; b: 0 and, for no number, 0.
	if e := gpt.BestOf[0]; math.Abs(e.Value-(50+0)/2.0) > 1e-12 {
		t.Errorf("best of 1 %+v", e)
	}
	if e := gpt.BestOf[1]; math.Abs(e.Value-(100*2.0/3+50*1.0/3+0)/2) > 1e-9 || e.Units != 2 || e.Short != 0 {
		t.Errorf("best of 2 %+v", e)
	}
	if none := all[2]; none.PassAt[0].Known || none.BestOf[0].Known || none.Score.All.N != 0 || none.Judged != 0 {
		t.Errorf("what was not judged has %+v", none)
	}
}

func TestGroupFormats(t *testing.T) {
	for _, format := range append(GroupFormats(), "xml") {
		var out strings.Builder
		err := WriteGroups(&out, format, attempts(), []string{"model"}, []int{1, 2}, Options{})
		if format == "xml" {
			if err == nil || !strings.Contains(err.Error(), "markdown") {
				t.Errorf("%s: %v", format, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "groups."+format, []byte(out.String()))
	}
}
