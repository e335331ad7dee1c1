package harbor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
)

// A trial is an attempt at its task. Without a reward that is valid for Harbor, it has no verdict.
func TestTrialAsLog(t *testing.T) {
	const trial = `{"task_name": "org/a", "trial_name": "a__1", "source": "set", "finished_at": "2026-01-01T00:00:00Z", "agent_info": {"name": "coder", "model_info": {"name": "m", "provider": "lab"}}, %s}`
	for rest, want := range map[string]string{
		`"verifier_result": {"rewards": {"speed": 2, "reward": 0.5}}`: "[reward speed] judged map[reward:0.5 speed:2] ",
		`"verifier_result": {"rewards": {"reward": null}}`:            "[reward] broken map[] ",
		`"verifier_result": {"rewards": {"reward": 0}}, "exception_info": {"exception_type": "AgentTimeoutError", "exception_message": "late\nvery"}`:          "[reward] judged map[reward:0] AgentTimeoutError (agent_exhausted_budget): late",
		`"verifier_result": {"rewards": {"reward": 0}}, "exception_info": {"exception_type": "EnvironmentStartTimeoutError", "exception_message": "no image"}`: "[reward] broken map[] EnvironmentStartTimeoutError (sandbox_failed): no image",
		`"verifier_result": null, "exception_info": {"exception_type": "AgentTimeoutError", "exception_message": ""}`:                                          "[reward] timeout map[] AgentTimeoutError (agent_exhausted_budget): ",
		`"verifier_result": null, "exception_info": {"exception_type": "NonZeroAgentExitCodeError", "exception_message": "1"}`:                                 "[reward] no_score map[] NonZeroAgentExitCodeError (agent_failed): 1",
		`"verifier_result": null, "exception_info": {"exception_type": "VerifierTimeoutError", "exception_message": "60 s"}`:                                   "[reward] timeout map[] VerifierTimeoutError (verifier_failed): 60 s",
		`"verifier_result": null, "exception_info": {"exception_type": "ApiRateLimitError", "exception_message": "429"}`:                                       "[reward] broken map[] ApiRateLimitError (model_provider_failed): 429",
		`"verifier_result": null, "exception_info": {"exception_type": "RuntimeError", "exception_message": "compose"}`:                                        "[reward] broken map[] RuntimeError (unclassified): compose",
		`"verifier_result": null, "exception_info": {"exception_type": "AgentTimeoutError", "exception_message": "", "policy": {"has_valid_reward": false}}`:   "[reward] broken map[] AgentTimeoutError (agent_exhausted_budget): ",
	} {
		content := fmt.Sprintf(trial, rest)
		logs, err := readLog(textfile.Open(t, "result.json", content))
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
		`{"task_name": "a"`:                        "unexpected end of the file",
		`{"task_name": ["a"]}`:                     "want a text, not array",
		`{"task_name": "a", "finished_at": "x"} {`: "after the end",
	} {
		if _, err := readLog(textfile.Open(t, "result.json", content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

func FuzzReadLog(f *testing.F) {
	f.Add(`{"task_name": "a", "trial_name": "a", "finished_at": "x", "verifier_result": {"rewards": {"reward": 1, "b": null}}, "exception_info": {"exception_type": "AgentTimeoutError"}}`)
	f.Fuzz(func(t *testing.T, content string) {
		holdsTrial([]byte(content))
		logs, err := readLog(textfile.Open(t, "result.json", content))
		if err == nil && (len(logs[0].Attempts) != 1 || logs[0].Attempts[0].Problem == "" || len(logs[0].Metrics) == 0) {
			t.Error("an empty log is accepted")
		}
	})
}
