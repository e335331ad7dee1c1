package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
)

// line returns a record with more members.
func line(model, sample, more string) string {
	return fmt.Sprintf(`{"schema_version": "0.3.0", "evaluation_id": "x", "model_id": %q, "evaluation_name": "e", "sample_id": %q%s}`, model, sample, more) + "\n"
}

func TestRecords(t *testing.T) {
	logs, err := readText(t, everyEval, "x_samples.jsonl", strings.Join([]string{
		line("a", "1", `, "evaluation_result_id": "m", "evaluation": {"score": 0.5, "is_correct": true}, "metadata": {"epoch": "2"}`),
		line("a", "1", `, "evaluation_result_id": "n", "evaluation": {"score": 7, "is_correct": true}, "metadata": {"epoch": "2"}`),
		line("b", "1", `, "evaluation": {"score": 1, "is_correct": false}, "metadata": null`),
		line("b", "1", `, "evaluation": {"score": NaN, "is_correct": false}`),
		line("a", "2", `, "evaluation_result_id": "m", "evaluation": {"score": 0, "is_correct": false}, "error": "gone\nmore"`),
		line("a", "3", `, "evaluation_result_id": "m", "evaluation": {"score": 1, "is_correct": true}, "error": ""`),
	}, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	const want = "a model=a [m m.is_correct n n.is_correct]: e/1#2 judged m=0.5 m.is_correct=1 n=7 n.is_correct=1; e/2#1 judged m=0 m.is_correct=0 (gone); e/3#1 judged m=1 m.is_correct=1" +
		" + 1 attempt with an error, whose recorded scores count + 1 score that is not a number, which have no verdict | b model=b [score is_correct]: e/1#1 judged score=1 is_correct=0; e/1#2 judged"
	if got := formatLogs(logs); got != want {
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
		logs, err := everyEval.readFile(textfile.OpenAt(t, filepath.Join(dir, "x_samples.jsonl")))
		if err != nil {
			t.Fatalf("%s: %v", aggregate, err)
		}
		if got := fmt.Sprintf("%v %q", logs[0].Higher, logs[0].Notes); got != want {
			t.Errorf("%s: %s, want %s", aggregate, got, want)
		}
	}
}
