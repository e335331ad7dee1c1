package logs

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/plan"
)

// The harness wrote the report, about six instances.
func TestSWEBenchRecorded(t *testing.T) {
	const want = " [resolved]: org__lib-4#1 no_submission; org__lib-1#1 judged resolved=1; org__lib-3#1 judged resolved=1; org__lib-2#1 judged resolved=0; org__lib-5#1 no_report (ended by an error)" +
		" + 1 instance ended by an error, counted as not resolved"
	if got := formatLogs([]*plan.Log{readOne(t, swebench, "swebench/agent.1.json")}); !strings.HasPrefix(got, want) {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

func TestRepository(t *testing.T) {
	for id, want := range map[string]string{"django__django-11099": "django__django", "scikit-learn__scikit-learn-7": "scikit-learn__scikit-learn", "word-1": "", "a__b": "", "": ""} {
		if got := repository(id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestSWEBench(t *testing.T) {
	const a, b = `{"instance_id": "a", "model_name_or_path": "lab/x", "model_patch": "diff"}`, `{"model_patch": "", "instance_id": "b", "model_name_or_path": "lab/x"}`
	const predicted = "lab/x model=lab/x [resolved]: a#1 skipped (a prediction that was not evaluated); b#1 skipped (a prediction without a patch)" +
		" + 2 predictions without verdicts, which are in the report of a run + 1 prediction without a patch"
	for content, want := range map[string]string{
		`{"a": {"patch_is_None": false, "patch_exists": true, "patch_successfully_applied": true, "resolved": true, "tests_status": {}},
		"b": {"patch_is_None": false, "patch_exists": true, "patch_successfully_applied": false, "resolved": false},
		"c": {"patch_is_None": true, "patch_exists": false, "patch_successfully_applied": false, "resolved": false}}`: " [resolved]: a#1 judged resolved=1; b#1 judged resolved=0; c#1 no_submission" +
			" + 1 instance without a patch, counted as not resolved",
		// Errors count as not resolved, unless the harness supposes a failure of infrastructure: these have no verdict.
		`{"total_instances": 5, "submitted_instances": 5, "infra_failure_ids": ["b", "c", "z"], "ambiguous_failure_ids": ["a"], "unresolved_ids": ["a", "b"], "error_ids": ["c", "d", "e"]}`: " [resolved]: a#1 judged resolved=0;" +
			" b#1 broken (a likely failure of infrastructure); c#1 broken (a likely failure of infrastructure); d#1 no_report (ended by an error); e#1 no_report (ended by an error)" +
			" + 2 instances ended by an error, counted as not resolved + 1 instance not resolved for an ambiguous cause, counted as not resolved" +
			" + 2 instances not resolved for a likely failure of infrastructure: SWE-bench counts them; here they have no verdict",
		// Predictions of any form name instances and a model, and no verdict.
		a + "\n\n" + b + "\n": predicted, " [" + a + ",\n" + b + "]": predicted, `{"a": ` + a + `, "b": ` + b + `}`: predicted,
	} {
		logs, err := readText(t, swebench, "agent.json", content)
		if err != nil {
			t.Errorf("%s: %v", content, err)
		} else if got := formatLogs(logs); got != want || logs[0].Unjudged != (want == predicted) {
			t.Errorf("%s:\n%s\nwant\n%s", content, got, want)
		}
	}
}
