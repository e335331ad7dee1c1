package page

import (
	"math"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// A page and its figures can be written whatever the finite numbers of results are.
func TestExtremes(t *testing.T) {
	numbers := []float64{1e308, -1e308, math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0, 1}
	r := &report.Results{Schema: report.Schema, Run: "20260102-030405-000001"}
	for i := range 42 {
		score, other := numbers[i%7], numbers[i%5]
		r.Cells = append(r.Cells, report.Cell{Problem: string(rune('a' + i/3)), Solution: string(rune('x' + i%3)), Backend: "local.host", Repeat: 1, Status: verdict.Success, Score: &other, ScoreUnbounded: &score,
			Checkpoints: []report.Checkpoint{{Class: verdict.Judged, Policy: string(verdict.NoRule), Score: &other, ScoreUnbounded: &score, DurationMS: math.Abs(other), Groups: verdict.NoTestCounts(), Figures: map[string]float64{"t.m": score}}}})
	}
	p := sample(2)
	p.Runs = []Run{{ID: "20260102-030404-000001", Results: r, Difference: report.Differ(r, r)}, {ID: r.Run, Ended: true, Results: r, Difference: report.Differ(r, r)}}
	_, document, _ := written(t, p, "page.html")
	unpack(t, document)
	if _, err := p.WriteFigures(t.TempDir()); err != nil {
		t.Error(err)
	}
}
