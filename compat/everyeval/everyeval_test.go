package everyeval

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
)

// The mean of the samples is the score of their aggregate.
func TestRecorded(t *testing.T) {
	content, err := os.ReadFile("testdata/samples.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	expected, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]float64
	if err := json.Unmarshal(expected, &want); err != nil {
		t.Fatal(err)
	}
	if !holds(content[:plan.LogHead]) {
		t.Error("the file is not recognized")
	}
	logs, err := read(textfile.Open(t, "x_samples.jsonl", string(content)))
	if err != nil {
		t.Fatal(err)
	}
	l := logs[0]
	if len(logs) != 1 || l.Name != "mockllm/mockllm/model" || len(l.Attempts) != 60 || l.Attempts[0].Problem != "pairs/q1" || len(l.Notes) != 0 {
		t.Errorf("%d logs, %s with %d attempts, %q", len(logs), l.Name, len(l.Attempts), l.Notes)
	}
	for _, metric := range l.Metrics {
		sum := 0.0
		for _, a := range l.Attempts {
			sum += a.Values[metric]
		}
		if mean := sum / 60; math.Abs(mean-want[strings.TrimSuffix(metric, ".is_correct")]) > 1e-12 {
			t.Errorf("the mean of %s is %v, want one of %v", metric, mean, want)
		}
	}
}

// line returns a record with more members.
func line(model, sample, more string) string {
	return fmt.Sprintf(`{"schema_version": "0.3.0", "evaluation_id": "x", "model_id": %q, "evaluation_name": "e", "sample_id": %q%s}`, model, sample, more) + "\n"
}

func TestRecords(t *testing.T) {
	logs, err := read(textfile.Open(t, "x_samples.jsonl", strings.Join([]string{
		line("a", "1", `, "evaluation_result_id": "m", "evaluation": {"score": 0.5, "is_correct": true}, "metadata": {"epoch": "2"}`),
		line("a", "1", `, "evaluation_result_id": "n", "evaluation": {"score": 7, "is_correct": true}, "metadata": {"epoch": "2"}`),
		line("b", "1", `, "evaluation": {"score": 1, "is_correct": false}, "metadata": null`),
		line("b", "1", `, "evaluation": {"score": NaN, "is_correct": false}`),
		line("a", "2", `, "evaluation_result_id": "m", "evaluation": {"score": 0, "is_correct": false}, "error": "gone\nmore"`),
		line("a", "3", `, "evaluation_result_id": "m", "evaluation": {"score": 1, "is_correct": true}, "error": ""`),
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, l := range logs {
		got += fmt.Sprintf("%s %v %v %v %q\n", l.Name, l.Labels, l.Metrics, l.Attempts, l.Notes)
	}
	const want = `a map[model:a] [m m.is_correct n n.is_correct] [{e/1 e 2 map[m:0.5 m.is_correct:1 n:7 n.is_correct:1] judged } {e/2 e 1 map[m:0 m.is_correct:0] judged gone} {e/3 e 1 map[m:1 m.is_correct:1] judged }] ["1 attempt with an error, whose recorded scores count"]
b map[model:b] [score is_correct] [{e/1 e 1 map[is_correct:0 score:1] judged } {e/1 e 2 map[] judged }] ["1 score that is not a number, which have no verdict"]
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// The aggregate next to samples has the direction of metrics, and shows which samples are missing.
func TestAggregate(t *testing.T) {
	samples := line("a", "1", `, "evaluation_result_id": "m", "evaluation": {"score": 1, "is_correct": true}`)
	for aggregate, want := range map[string]string{
		`{"evaluation_results": [{"evaluation_result_id": "m", "metric_config": {"lower_is_better": true}, "score_details": {"score": 1}}]}`:                                         `map[m:false m.is_correct:true] []`,
		`{"evaluation_results": [{"evaluation_result_id": "m", "metric_config": {"lower_is_better": false}, "score_details": {"score": 100}}], "detailed_evaluation_results": null}`: `map[m:true m.is_correct:true] []`,
		`{"evaluation_results": [{"evaluation_result_id": "m", "score_details": {"score": 0.75}}]}`:                                                                                  `map[m.is_correct:true] ["the aggregate of m is 0.75, but the mean of 1 sample here is 1: some can be missing"]`,
		`{"evaluation_results": [{"evaluation_result_id": "m", "score_details": {"score": 0.75, "uncertainty": {"num_samples": 4}}}]}`:                                               `map[m.is_correct:true] ["3 of 4 samples of m are not in the file"]`,
		`{"evaluation_results": [], "detailed_evaluation_results": {"total_rows": 4}}`:                                                                                               `map[m.is_correct:true] ["3 of 4 records of the aggregate are not in the file"]`,
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{"x.json": aggregate, "x_samples.jsonl": samples} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		logs, err := read(textfile.OpenAt(t, filepath.Join(dir, "x_samples.jsonl")))
		if err != nil {
			t.Fatalf("%s: %v", aggregate, err)
		}
		if got := fmt.Sprintf("%v %q", logs[0].Higher, logs[0].Notes); got != want {
			t.Errorf("%s: %s, want %s", aggregate, got, want)
		}
	}
}

func TestBroken(t *testing.T) {
	sample := strings.TrimSpace(line("a", "1", `, "evaluation": {"score": 1, "is_correct": true}, "metadata": {"epoch": "1"}`))
	for name, c := range map[string]struct{ content, want string }{
		"empty":        {"\n", "it has no samples"},
		"cut off":      {sample + "\n" + sample[:60], "line 2: "},
		"twice":        {sample + "\n" + sample, "line 2: score of epoch 1 of sample 1 is duplicated"},
		"no model":     {line("", "1", ""), "line 1: want model_id, evaluation_name and sample_id"},
		"no score":     {line("a", "1", ""), "line 1: sample 1: want evaluation.score"},
		"no object":    {sample + "\n[]", "line 2: want an object"},
		"deep":         {`{"model_id": "a", "input": ` + strings.Repeat("[", 100_000), "line 1: "},
		"a large line": {`{"model_id": "` + strings.Repeat("a", 65<<20) + `"}`, "line 1: a value is larger than 64 MiB"},
	} {
		if _, err := read(textfile.Open(t, "x_samples.jsonl", c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if holds([]byte(`{"evaluation_id": 1, "model_info": {}}`)) || holds(nil) || !holds([]byte(sample)) {
		t.Error("what is recognized")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(line("a", "1", `, "evaluation": {"score": 1, "is_correct": true}`))
	f.Fuzz(func(t *testing.T, content string) {
		holds([]byte(content))
		if logs, err := read(textfile.Open(t, "x_samples.jsonl", content)); err == nil && (len(logs) == 0 || len(logs[0].Attempts) == 0) {
			t.Error("an empty log is not rejected")
		}
	})
}
