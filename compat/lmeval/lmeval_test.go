package lmeval

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

// readOne reads the only log of a file.
func readOne(file *os.File) (*plan.Log, error) {
	logs, err := read(file)
	if err != nil {
		return nil, err
	}
	return logs[0], nil
}

// Means of the samples equal those that lm-eval reports.
func TestRecorded(t *testing.T) {
	content, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]float64
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/samples_*.jsonl")
	if err != nil || len(files) != 2 || len(want) != 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		l, err := readOne(textfile.OpenAt(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if l.Name != "dummy" || l.Labels["model"] != "dummy" || len(l.Attempts) != 8 || len(l.Metrics) != 2 || len(l.Notes) != 0 {
			t.Errorf("%s: %s, %v, %d attempts at %s, %q", file, l.Name, l.Labels, len(l.Attempts), l.Metrics, l.Notes)
		}
		for _, metric := range l.Metrics {
			sum := 0.0
			for _, a := range l.Attempts {
				sum += a.Values[metric]
			}
			named := metric
			if !strings.Contains(metric, ",") {
				named += ",none"
			}
			mean, known := want[l.Labels["task"]][named]
			if got := sum / float64(len(l.Attempts)); !known || math.Abs(got-mean) > 1e-12 {
				t.Errorf("%s of %s is %v, want lm-eval's %v", metric, l.Labels["task"], got, mean)
			}
		}
		if !strings.HasPrefix(l.Attempts[0].Problem, l.Labels["task"]+"/") {
			t.Errorf("the problem %s", l.Attempts[0].Problem)
		}
	}
}

func TestValues(t *testing.T) {
	l, err := readOne(textfile.Open(t, "samples_my_task_2026-01-02T03-04-05.6.jsonl", `{"doc_id": 1, "doc": {"doc_id": 7}, "filter": "none", "metrics": ["acc", "ppl", "f1"], "acc": true, "ppl": [1, 2], "f1": 0.5}

{"doc_id": 1, "arguments": [], "filter": "strict", "metrics": ["acc"], "acc": NaN}
{"doc_id": "\u0062", "doc": {}, "acc": 0, "f1": null}`))
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%q %v %v %v %q", l.Name, l.Labels, l.Metrics, l.Attempts, l.Notes)
	const want = `"" map[task:my_task] [acc f1] [{my_task/1 my_task 1 map[acc:1 f1:0.5] judged } {my_task/b my_task 1 map[acc:0] judged }] ` +
		`["ppl has no numbers of single documents, and is left out" "1 value of f1 without a number, which have no verdict" "acc,strict has no numbers of single documents, and is left out"]`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// Results next to samples have the direction of metrics, and how many documents there are.
func TestResults(t *testing.T) {
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
		l, err := readOne(textfile.OpenAt(t, filepath.Join(dir, "samples_t_2026-01-02T03-04-05.6.jsonl")))
		if err != nil {
			t.Fatalf("%s: %v", results, err)
		}
		if got := fmt.Sprintf("%v %q", l.Higher, l.Notes); got != want {
			t.Errorf("%s: %s, want %s", results, got, want)
		}
	}
}

func TestBroken(t *testing.T) {
	sample := `{"doc_id": 1, "doc": {}, "acc": 1}`
	many := ""
	for i := range mostMetrics + 1 {
		many += fmt.Sprintf(`, "%d": 1`, i)
	}
	for name, c := range map[string]struct{ content, want string }{
		"empty":        {"\n", "it has no samples"},
		"cut off":      {sample + "\n" + sample[:20], "line 2: "},
		"twice":        {sample + "\n" + sample, "line 2: document 1 is duplicated with the filter none"},
		"no id":        {`{"doc": {}}`, "line 1: want a doc_id"},
		"null":         {`{"doc_id": null}`, "line 1: want a doc_id"},
		"an object":    {`{"doc_id": {}}`, "line 1: want a doc_id"},
		"no object":    {sample + "\n[]", "line 2: want an object"},
		"two values":   {sample + sample, "line 1: "},
		"metrics":      {`{"doc_id": 1` + many + "}", "more than 1000 metrics"},
		"deep":         {`{"doc_id": 1, "doc": ` + strings.Repeat("[", 100_000), "line 1: "},
		"a large line": {`{"doc_id": 1, "doc": "` + strings.Repeat("a", 65<<20) + `"}`, "line 1: a value is larger than 64 MiB"},
	} {
		if _, err := readOne(textfile.Open(t, "samples_x.jsonl", c.content)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if holds([]byte(`{"id": 1}`)) || holds(nil) || !holds([]byte(sample)) {
		t.Error("what is recognized")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"doc_id": 1, "doc": {}, "metrics": ["acc"], "acc": 1, "filter": "none"}`)
	f.Fuzz(func(t *testing.T, content string) {
		holds([]byte(content))
		if l, err := readOne(textfile.Open(t, "samples_x.jsonl", content)); err == nil && len(l.Attempts) == 0 {
			t.Error("an empty log is not rejected")
		}
	})
}
