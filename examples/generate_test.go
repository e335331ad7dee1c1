package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/report"
)

// Solutions are generated, graded, and compared by model; the second time nothing is asked.
func TestGenerateRuns(t *testing.T) {
	dir := project(t, "generate")
	program(t, 1, "gen", "-C", dir)
	program(t, 1, "run", "-C", dir)
	results, err := report.Decode(strings.NewReader(program(t, 0, "results", "-C", dir, "--format", "json")))
	if err != nil {
		t.Fatal(err)
	}
	scores := map[string]float64{"keen-1": 100, "keen-2": 100, "modest-1": 0, "modest-2": 0}
	for _, cell := range results.Cells {
		if want, ok := scores[cell.Solution]; !ok || cell.Score == nil || *cell.Score != want {
			t.Errorf("%s: %+v", cell.Solution, cell)
		}
		delete(scores, cell.Solution)
	}
	if len(scores) > 0 {
		t.Errorf("no cells of %v", scores)
	}
	if why, err := os.ReadFile(filepath.Join(dir, "generated", "models", "modest", "countdown", "2.FAILED")); err != nil || string(why) != "the answer has no fenced code\n" {
		t.Errorf("%q, %v", why, err)
	}
	words := strings.Join(strings.Fields(program(t, 1, "run", "-C", dir)), " ")
	if !strings.HasSuffix(words, "keen 2 2 100 modest 2 2 0") {
		t.Errorf("no leaderboard: %s", words)
	}
	if stream := program(t, 1, "gen", "-C", dir, "--json"); strings.Contains(stream, `"asked":true`) || strings.Count(stream, `"asked":false`) != 4 {
		t.Error(stream)
	}
}
