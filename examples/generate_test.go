package examples_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/gen/modeltest"
	"github.com/fevalgraph/fevalgraph/report"
)

// Solutions are generated, graded, and compared by model; a second call sends no prompt.
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

// The quickstart's problem is solved by two models of an endpoint, graded, and the models
// compared: one answers with the reference, the other hastily and, once, not at all.
func TestGenerateQuickstart(t *testing.T) {
	dir := project(t, "quickstart")
	code := func(solution, checkpoint string) string {
		content, err := os.ReadFile(filepath.Join(dir, "solutions", solution, checkpoint, "tally.py"))
		if err != nil {
			t.Error(err)
		}
		return "```python tally.py\n" + string(content) + "```\n"
	}
	server := httptest.NewServer(&modeltest.Server{Models: []string{"careful", "hasty"}, Answer: func(r modeltest.Request) string {
		solution := map[any]string{"careful": "reference", "hasty": "hasty"}[r.Body["model"]]
		_, step, _ := strings.Cut(r.Prompt, "step: ")
		step, attempt, _ := strings.Cut(step, " ")
		if solution == "hasty" && step == "checkpoint_2" && strings.HasPrefix(attempt, "2") {
			return "I have no time for this."
		}
		return code(solution, step)
	}})
	defer server.Close()
	blocks := fmt.Sprintf(`
generator "models" {
  for_each = toset(["careful", "hasty"])
  endpoint = "%s/v1"
  model    = each.key
  attempts = 2
  prompt   = "${self.spec}\n${self.code}\nstep: ${self.checkpoint} ${self.attempt}"
}
solution "model" {
  for_each = { for f in fileset(".", "generated/models/*/tally/*.json") : trimsuffix(f, ".json") => jsondecode(file(f)).labels }
  name     = "${each.value.model}-${each.value.attempt}"
  problem  = problem.tally
  source   = "${each.key}/${checkpoint.name}"
  missing  = "skip"
  labels   = each.value
}
suite "models" {
  matrix { solution = solution.model }
}
result "models" {
  from     = suite.models
  group_by = ["model"]
  metric "attempts" { value = self.cells }
  metric "solved" { value = self.solved }
  sort = ["-solved", "model"]
}
`, server.URL)
	if err := os.WriteFile(filepath.Join(dir, "models.feval.hcl"), []byte(blocks), 0o600); err != nil {
		t.Fatal(err)
	}
	program(t, 1, "gen", "-C", dir)
	board := strings.Join(strings.Fields(program(t, 1, "run", "-C", dir, "suite=models")), " ")
	if !strings.HasSuffix(board, "careful 2 2 hasty 2 0") {
		t.Errorf("no leaderboard: %s", board)
	}
	for _, row := range []string{"tally checkpoint_3 careful-2 local.host passed", "tally checkpoint_3 hasty-1 local.host failed", "tally checkpoint_2 hasty-2 local.host not reached"} {
		if !strings.Contains(board, row) {
			t.Errorf("no %q: %s", row, board)
		}
	}
}
