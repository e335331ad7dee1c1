package logs

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
)

func TestLMEvalValues(t *testing.T) {
	logs, err := readText(t, lmEval, "samples_my_task_2026-01-02T03-04-05.6.jsonl", `{"doc_id": 1, "doc": {"doc_id": 7}, "filter": "none", "metrics": ["acc", "ppl", "f1"], "acc": true, "ppl": [1, 2], "f1": 0.5}

{"doc_id": 1, "arguments": [], "filter": "strict", "metrics": ["acc"], "acc": NaN}
{"doc_id": "\u0062", "doc": {}, "acc": 0, "f1": null}`)
	if err != nil {
		t.Fatal(err)
	}
	l := logs[0]
	got := fmt.Sprintf("%q %v %v %v %q", l.Name, l.Labels, l.Metrics, l.Attempts, l.Notes)
	const want = `"" map[task:my_task] [acc f1] [{my_task/1 my_task 1 map[acc:1 f1:0.5] judged } {my_task/b my_task 1 map[acc:0] judged }] ` +
		`["ppl has no numbers of single documents, and is left out" "acc,strict has no numbers of single documents, and is left out" "1 value of f1 without a number, which have no verdict"]`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Results next to samples have the direction of metrics, and how many documents there are.
func TestLMEvalResults(t *testing.T) {
	sample := `{"doc_id": 1, "doc": {}, "filter": "none", "metrics": ["acc", "bias", "odd"], "acc": 1, "bias": 0, "odd": 1}`
	for results, want := range map[string]string{
		`{"higher_is_better": {"t": {"acc": true, "bias": false, "odd": null}, "g": null}, "n-samples": {"t": {"original": 1, "effective": 1}}}`: `map[acc:true bias:false] []`,
		`{"n-samples": {"t": {"original": 5000, "effective": 5000}}}`:                                                                            `map[] ["4999 of 5000 samples that were evaluated are not in the file"]`,
		`{"n-samples": {"t": {"original": 5000, "effective": 1}}}`:                                                                               `map[] ["1 of 5000 samples of the task were evaluated"]`,
		`{"n-samples": {"u": {"original": 5000, "effective": 1}}}`:                                                                               `map[] []`,
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{"results_2026-01-02T03-04-05.6.json": results, "samples_t_2026-01-02T03-04-05.6.jsonl": sample} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		logs, err := lmEval.readFile(textfile.OpenAt(t, filepath.Join(dir, "samples_t_2026-01-02T03-04-05.6.jsonl")))
		if err != nil {
			t.Fatalf("%s: %v", results, err)
		}
		if got := fmt.Sprintf("%v %q", logs[0].Higher, logs[0].Notes); got != want {
			t.Errorf("%s: %s, want %s", results, got, want)
		}
	}
}
