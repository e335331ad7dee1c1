package harbor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/plan"
)

func readTrialText(t *testing.T, content string) ([]*plan.Log, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	return readLog(file)
}

// A trial is an attempt at its task. What Harbor does not take for a valid reward has no verdict.
func TestTrialAsLog(t *testing.T) {
	const trial = `{"task_name": "org/a", "trial_name": "a__1", "source": "set", "finished_at": "2026-01-01T00:00:00Z", "agent_info": {"name": "coder", "model_info": {"name": "m", "provider": "lab"}}, %s}`
	for rest, want := range map[string]string{
		`"verifier_result": {"rewards": {"speed": 2, "reward": 0.5}}`: "[reward speed] judged map[reward:0.5 speed:2] ",
		`"verifier_result": {"rewards": {"reward": null}}`:            "[reward] broken map[] ",
		`"verifier_result": {"rewards": {"reward": 0}}, "exception_info": {"exception_type": "AgentTimeoutError", "exception_message": "late\nvery"}`:          "[reward] judged map[reward:0] AgentTimeoutError (agent_exhausted_budget): late",
		`"verifier_result": {"rewards": {"reward": 0}}, "exception_info": {"exception_type": "EnvironmentStartTimeoutError", "exception_message": "no image"}`: "[reward] broken map[] EnvironmentStartTimeoutError (sandbox_failed): no image",
		`"verifier_result": null, "exception_info": {"exception_type": "AgentTimeoutError", "exception_message": ""}`:                                          "[reward] broken map[] AgentTimeoutError (agent_exhausted_budget): ",
	} {
		content := fmt.Sprintf(trial, rest)
		logs, err := readTrialText(t, content)
		if err != nil || !holdsTrial([]byte(content)) {
			t.Errorf("%s: %v", rest, err)
			continue
		}
		l, a := logs[0], logs[0].Attempts[0]
		if got := fmt.Sprintf("%v %s %v %s", l.Metrics, a.Class, a.Values, a.Message); got != want || l.Name != "coder lab/m" || l.Labels["model"] != "lab/m" || l.Labels["dataset"] != "set" {
			t.Errorf("%s: %s of %s %v, want %s", rest, got, l.Name, l.Labels, want)
		}
	}
	for content, want := range map[string]string{
		`{"task_name": "a", "trial_name": "a"}`:    "it is not finished",
		`{"trial_name": "a"}`:                      "names no task",
		`{"task_name": "a", "schema_version": 2}`:  "schema_version 2",
		`{"task_name": "a"`:                        "bad JSON",
		`{"task_name": ["a"]}`:                     "task_name is of type array",
		`{"task_name": "a", "finished_at": "x"} {`: "follows the value",
	} {
		if _, err := readTrialText(t, content); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}
