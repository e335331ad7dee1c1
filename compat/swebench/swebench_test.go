package swebench

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func readText(t *testing.T, text string) (*plan.Log, error) {
	t.Helper()
	logs, err := read(textfile.Open(t, "agent.json", text))
	if err != nil {
		return nil, err
	}
	return logs[0], nil
}

// outcomes returns values as "1" and "0", and otherwise classes, by instance.
func outcomes(l *plan.Log) map[string]string {
	out := map[string]string{}
	for _, a := range l.Attempts {
		switch v, ok := a.Values[metric]; {
		case !ok:
			out[a.Problem] = string(a.Class)
		case v == 1:
			out[a.Problem] = "1"
		default:
			out[a.Problem] = "0"
		}
	}
	return out
}

// The harness wrote the report, about six instances.
func TestRun(t *testing.T) {
	text, err := os.ReadFile("testdata/agent.1.json")
	if err != nil {
		t.Fatal(err)
	}
	l, err := readText(t, string(text))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"org__lib-1": "1", "org__lib-2": "0", "org__lib-3": "1", "org__lib-4": string(verdict.NoSubmission), "org__lib-5": string(verdict.NoReport)}
	if got := outcomes(l); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(l.Notes) != 3 || l.Name != "" || !holds(text) {
		t.Errorf("%s: %q", l.Name, l.Notes)
	}
}

func TestRepository(t *testing.T) {
	for id, want := range map[string]string{"django__django-11099": "django__django", "scikit-learn__scikit-learn-7": "scikit-learn__scikit-learn", "word-1": "", "a__b": "", "": ""} {
		if got := repository(id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestInstances(t *testing.T) {
	text := `{"a": {"patch_is_None": false, "patch_exists": true, "patch_successfully_applied": true, "resolved": true, "tests_status": {}},
		"b": {"patch_is_None": false, "patch_exists": true, "patch_successfully_applied": false, "resolved": false},
		"c": {"patch_is_None": true, "patch_exists": false, "patch_successfully_applied": false, "resolved": false}}`
	l, err := readText(t, text)
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"a": "1", "b": "0", "c": string(verdict.NoSubmission)}; !maps.Equal(outcomes(l), want) || !holds([]byte(text)) {
		t.Errorf("%v, want %v", outcomes(l), want)
	}
}

// Errors count as not resolved, unless the harness supposes a failure of infrastructure: these have no verdict.
func TestErrors(t *testing.T) {
	l, err := readText(t, `{"infra_failure_ids": ["b", "c", "z"], "ambiguous_failure_ids": ["a"], "unresolved_ids": ["a", "b"], "error_ids": ["c", "d", "e"]}`)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a": "0", "b": string(verdict.NotJudged), "c": string(verdict.NotJudged), "d": string(verdict.NoReport), "e": string(verdict.NoReport)}
	if !maps.Equal(outcomes(l), want) {
		t.Errorf("%v, want %v", outcomes(l), want)
	}
	notes := strings.Join(l.Notes, "\n")
	for _, note := range []string{"2 instances ended by an error, counted as not resolved", "2 instances not resolved for a likely failure", "1 instance not resolved for an ambiguous cause"} {
		if !strings.Contains(notes, note) {
			t.Errorf("no note %q: %q", note, l.Notes)
		}
	}
}

// Predictions of any form name instances and a model, and no verdict.
func TestPredictions(t *testing.T) {
	a, b := `{"instance_id": "a", "model_name_or_path": "lab/x", "model_patch": "diff"}`, `{"model_patch": "", "instance_id": "b", "model_name_or_path": "lab/x"}`
	for name, text := range map[string]string{
		"lines": a + "\n\n" + b + "\n", "list": " [" + a + ",\n" + b + "]", "mapping": `{"a": ` + a + `, "b": ` + b + `}`,
	} {
		l, err := readText(t, text)
		if err != nil || !holds([]byte(text)) {
			t.Fatalf("%s: %v", name, err)
		}
		if want := map[string]string{"a": string(verdict.NotRun), "b": string(verdict.NotRun)}; !maps.Equal(outcomes(l), want) {
			t.Errorf("%s: %v, want %v", name, outcomes(l), want)
		}
		if l.Name != "lab/x" || !l.Unjudged || len(l.Notes) != 1 || l.Notes[0] != "2 predictions, 1 without a patch; verdicts are in the report of a run" {
			t.Errorf("%s: %s, %q", name, l.Name, l.Notes)
		}
	}
}

func TestBroken(t *testing.T) {
	for text, want := range map[string]string{
		`{"resolved_ids": ["a"], "unresolved_ids": ["a"]}`: `at "unresolved_ids.0": the instance a is also in resolved_ids`,
		`{"resolved_ids": [3]}`:                            `at "resolved_ids.0": `,
		`{"resolved_ids": ["a"`:                            "unexpected end of the file",
		`{"a": {"patch_exists": true}}`:                    `at "a": want resolved`,
		`{"total_instances": 3, "resolved_instances": 1}`:  "it lists no instance",
		`[]`: "want an object",
		`{"instance_id": "a", "model_name_or_path": "m", "model_patch": "x"}` + "\n" + `{"instance_id": "a", "model_name_or_path": "m"}`: "line 2: the instance a is duplicated",
		`{"model_patch": "x"}`:                   "line 1: want instance_id and model_name_or_path",
		`[{"model_patch": "x", "instance_id": 3`: `at "0": `,
		`{"a": {"model_patch": "x"}}`:            `at "a": want instance_id`,
	} {
		if _, err := readText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"total_instances": 2, "resolved_ids": ["a"], "unresolved_ids": ["b"], "infra_failure_ids": ["b"], "incomplete_ids": ["c"]}`)
	f.Add(`{"a": {"patch_is_None": false, "patch_exists": true, "resolved": true}}`)
	f.Add(`[{"instance_id": "a", "model_name_or_path": "m", "model_patch": null}]`)
	f.Fuzz(func(t *testing.T, content string) {
		holds([]byte(content[:min(len(content), plan.LogHead)]))
		logs, err := read(textfile.Open(t, "x.json", content))
		if err == nil && (len(logs) == 0 || len(logs[0].Attempts) == 0) {
			t.Error("an empty log is accepted")
		}
	})
}
