package logs

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
)

// readText reads a file, which its format must recognize.
func readText(t *testing.T, f format, name, content string) ([]*plan.Log, error) {
	t.Helper()
	if !f.holds([]byte(content[:min(len(content), plan.LogHead)])) {
		t.Errorf("%s is not recognized: %.100s", name, content)
	}
	return f.readFile(textfile.Open(t, name, content))
}

// readOne reads the only log of a file of testdata.
func readOne(t *testing.T, f format, path string) *plan.Log {
	t.Helper()
	logs, err := f.readFile(textfile.OpenAt(t, "testdata/"+path))
	if err != nil || len(logs) != 1 {
		t.Fatalf("%s: %d logs, %v", path, len(logs), err)
	}
	return logs[0]
}

// decode decodes a file of testdata.
func decode(t *testing.T, path string, into any) {
	t.Helper()
	content, err := os.ReadFile("testdata/" + path)
	if err == nil {
		err = json.Unmarshal(content, into)
	}
	if err != nil {
		t.Fatal(path, err)
	}
}

func mean(l *plan.Log, metric string) float64 {
	sum := 0.0
	for _, a := range l.Attempts {
		sum += a.Values[metric]
	}
	return sum / float64(len(l.Attempts))
}

// formatLogs returns logs as text, which is shorter than their fields.
func formatLogs(logs []*plan.Log) string {
	var all []string
	for _, l := range logs {
		head := l.Name
		for _, label := range slices.Sorted(maps.Keys(l.Labels)) {
			head += " " + label + "=" + l.Labels[label]
		}
		var attempts []string
		for _, a := range l.Attempts {
			one := fmt.Sprintf("%s#%d %s", a.Problem, a.Repeat, a.Class)
			for _, m := range l.Metrics {
				if v, ok := a.Values[m]; ok {
					one += fmt.Sprintf(" %s=%v", m, v)
				}
			}
			if a.Message != "" {
				one += " (" + a.Message + ")"
			}
			attempts = append(attempts, one)
		}
		all = append(all, strings.Join(append([]string{fmt.Sprintf("%s %s: %s", head, l.Metrics, strings.Join(attempts, "; "))}, l.Notes...), " + "))
	}
	return strings.Join(all, " | ")
}

// Means and standard errors equal what the programs report of the same files.
func TestRecordedMeans(t *testing.T) {
	check := func(l *plan.Log, metric string, want float64) {
		t.Helper()
		if got := mean(l, metric); !slices.Contains(l.Metrics, metric) || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s of %s is %v, want %v", metric, l.Name, got, want)
		}
	}
	var ofTasks map[string]map[string]float64
	decode(t, "lmeval/expected.json", &ofTasks)
	for _, name := range []string{"pick", "sums"} {
		l := readOne(t, lmEval, "lmeval/samples_"+name+"_2026-11-27T15-21-11.030332.jsonl")
		task := l.Labels["task"]
		if l.Name != "dummy" || l.Labels["model"] != "dummy" || len(l.Attempts) != 8 || len(l.Metrics) != 2 || len(l.Notes) != 0 || !strings.HasPrefix(l.Attempts[0].Problem, task+"/") {
			t.Errorf("%s: %+v", name, l)
		}
		for metric, want := range ofTasks[task] {
			check(l, strings.TrimSuffix(metric, ",none"), want)
		}
	}
	var ofMetrics map[string]float64
	decode(t, "everyeval/expected.json", &ofMetrics)
	l := readOne(t, everyEval, "everyeval/samples.jsonl")
	if l.Name != "mockllm/mockllm/model" || len(l.Attempts) != 60 || l.Attempts[0].Problem != "pairs/q1" || len(l.Notes) != 0 || len(ofMetrics) == 0 {
		t.Errorf("%s with %d attempts, %q", l.Name, len(l.Attempts), l.Notes)
	}
	for metric, want := range ofMetrics {
		check(l, metric, want)
		check(l, metric+".is_correct", want)
	}
	var pair map[string]struct{ Accuracy, Stderr float64 }
	decode(t, "inspect/pair.json", &pair)
	for name, want := range pair {
		l := readOne(t, inspect, "inspect/"+name)
		check(l, "match", want.Accuracy)
		n, m := float64(len(l.Attempts)), mean(l, "match") // of values that are 0 or 1
		if stderr := math.Sqrt(m * (1 - m) / (n - 1)); n != 60 || math.Abs(stderr-want.Stderr) > 1e-12 {
			t.Errorf("%s: ± %v of %v samples, want inspect_ai's %+v", name, stderr, n, want)
		}
	}
}

func TestBroken(t *testing.T) {
	const (
		inspected = `{"version": 2, "status": "started", "eval": {"task": "t", "model": "m", "scorers": [{"name": "s"}]}`
		sample    = `{"id": "a", "epoch": 1, "scores": {}}`
		document  = `{"doc_id": 1, "doc": {}, "acc": 1}`
		predicted = `{"instance_id": "a", "model_name_or_path": "m", "model_patch": "x"}`
	)
	recorded := strings.TrimSpace(line("a", "1", `, "evaluation": {"score": 1, "is_correct": true}, "metadata": {"epoch": "1"}`))
	many, columnNames := "", "id"
	for i := range mostMetrics + 1 {
		many += fmt.Sprintf(`, "%d": 1`, i)
		columnNames += fmt.Sprintf(",%d", i)
	}
	for _, c := range []struct {
		format        format
		content, want string
	}{
		{inspect, inspected + `, "samples": [` + sample + `, {"id": "b", "ep`, `at "samples.1": unexpected end of the file`},
		{inspect, inspected + `, "samples": [` + sample + `, ` + sample + `]}`, `at "samples.1": attempt 1 at a is duplicated`},
		{inspect, inspected + `, "samples": [{"id": {}, "epoch": 1}]}`, `at "samples.0": want an id`},
		{inspect, inspected + `, "samples": [{"id": "a"}]}`, `at "samples.0": sample a: want an epoch`},
		{inspect, inspected + `, "samples": {}}`, `at "samples": want an array`},
		{inspect, inspected + `}`, "it has no samples"},
		{inspect, inspected + `, "samples": [{"id": "a", "epoch": 1, "scores": {"s": {"value": {"a": 1` + many + `}}}}]}`, `at "samples.0": more than 1000 metrics`},
		{inspect, inspected + `, "samples": [{"id": "a", "epoch": 1, "scores": {"` + strings.Repeat("s", 5000) + `": {"value": 1}}}]}`, "is longer than 4096 bytes"},
		{inspect, inspected + `, "samples": [{"id": "a", "epoch": 1, "scores": {"s": {"value": {"` + strings.Repeat("k", 5000) + `": 1}}}}]}`, "is longer than 4096 bytes"},
		{inspect, inspected + `, "samples": [` + sample + `]} {}`, "after the end"},
		{inspect, inspected + `, "x": ` + strings.Repeat("[", 100_000) + `}`, `at "x": `},
		{lmEval, document + "\n" + document[:20], "line 2: "},
		{lmEval, document + "\n" + document, "line 2: filter none of attempt 1 at 1 is duplicated"},
		{lmEval, `{"doc_id": null, "doc": {}}`, "line 1: want a doc_id"},
		{lmEval, `{"doc_id": {}, "doc": {}}`, "line 1: want a doc_id"},
		{lmEval, document + "\n[]", "line 2: want an object"},
		{lmEval, document + document, "line 1: unexpected data after the end"},
		{lmEval, `{"doc_id": 1, "doc": {}` + many + "}", "more than 1000 metrics"},
		{lmEval, `{"doc_id": 1, "doc": ` + strings.Repeat("[", 100_000), "line 1: "},
		{everyEval, recorded + "\n" + recorded[:60], "line 2: "},
		{everyEval, recorded + "\n" + recorded, "line 2: result of attempt 1 at e/1 is duplicated"},
		{everyEval, line("", "1", ""), "line 1: want model_id, evaluation_name and sample_id"},
		{everyEval, line("a", "1", ""), "line 1: sample 1: want evaluation.score"},
		{swebench, `{"total_instances": 1, "submitted_instances": 1, "resolved_ids": ["a"], "unresolved_ids": ["a"]}`, `at "unresolved_ids.0": attempt 1 at a is duplicated`},
		{swebench, `{"total_instances": 1, "submitted_instances": 1, "resolved_ids": [3]}`, `at "resolved_ids.0": want a text`},
		{swebench, `{"total_instances": 1, "submitted_instances": 1, "resolved_ids": ["a"`, "unexpected end of the file"},
		{swebench, `{"a": {"patch_is_None": false, "patch_exists": true}}`, `at "a": want resolved`},
		{swebench, `{"total_instances": 3, "submitted_instances": 1, "infra_failure_ids": ["a"]}`, "it lists no instance"},
		{swebench, predicted + "\n" + predicted, "line 2: attempt 1 at a is duplicated"},
		{swebench, `{"model_patch": "x"}`, "line 1: want instance_id and model_name_or_path"},
		{swebench, `[{"model_patch": "x", "instance_id": 3`, `at "0": `},
		{swebench, `{"a": {"model_patch": "x"}}`, `at "a": want instance_id`},
		{junit, "<testsuite>\n<testcase name='a'>", "line 2: XML syntax error"},
		{junit, "<html><testsuite/></html>", "want testsuites or testsuite, not html"},
		{junit, "<testsuite/>", "it has no attempts"},
		{junit, "<testsuite>\n\n<testcase/></testsuite>", "line 3: a test case has neither"},
		{junit, `<!DOCTYPE x [<!ENTITY a "b">]><testsuite><testcase name="&a;"/></testsuite>`, "invalid character entity"},
		{junit, `<?xml version="1.0" encoding="iso-8859-1"?><testsuite><testcase name="a"/></testsuite>`, "its encoding is iso-8859-1: convert it to UTF-8"},
		{junit, "<testsuite>" + strings.Repeat("<a>", 200), "more than 100 deep"},
		{columns, "id,score\n", "it has a header but no rows"},
		{columns, "id,score,score\na,1,1\n", `duplicate column "score"`},
		{columns, "id,score\na,1\nb\n", "line 3"},
		{columns, "id,score\n\"a,1\n", "line 2"},
		{columns, "id,score\n,1\n", "line 2: id is empty"},
		{columns, "id,model,score\na,,1\n", "line 2: model is empty"},
		{columns, "id,attempt,score\na,first,1\n", `line 2: attempt is "first"`},
		{columns, "id,attempt,score\na,1,1\na,1,0\n", "line 3: attempt 1 of a is duplicated"},
		{columns, "id,score\na,good\n", "no column has numbers"},
		{columns, "id,score\na," + strings.Repeat("1", 3<<20) + "\n", "a row is larger than 1 MiB"},
		{columns, columnNames + ",score\n", "more than 1000 columns"},
	} {
		if _, err := readText(t, c.format, "x", c.content); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %.200s: %v, want %s", c.format.name, c.content, err, c.want)
		}
	}
	// These formats were given by name.
	for want, f := range map[string]format{"it is empty": columns, "it has no attempts": lmEval} {
		if _, err := f.readFile(textfile.Open(t, "x", "")); err == nil || err.Error() != want {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	if _, err := columns.readFile(textfile.Open(t, "x", "name,score\na,1\n")); err == nil || !strings.Contains(err.Error(), "has no column for problems") {
		t.Error(err)
	}
}

// What is kept of a file is bounded: its names and messages together, and the values of its attempts.
func TestBounds(t *testing.T) {
	name := strings.Repeat("n", maxName)
	f := newFile()
	for i := range maxText / maxName {
		if err := f.names(name); err != nil {
			t.Fatal(i, err)
		}
	}
	if err := f.names("n"); err == nil || err.Error() != "its names and messages are larger than 256 MiB" {
		t.Error(err)
	}
	f = newFile()
	f.values = mostValues - 1
	for i, want := range []string{"<nil>", "more than 3000000 values"} {
		if _, err := f.add(entry{problem: "p", values: []value{{"m", 1}}}); fmt.Sprint(err) != want {
			t.Errorf("%d: %v, want %s", i, err, want)
		}
	}
}

// Each format recognizes only its own files.
func TestHolds(t *testing.T) {
	for _, other := range []string{"", "a,b\n", `{"id": 1}`, "problem;score\n", "id,name\n", "\x00", "<html>", "testsuite", "{}", `{"evaluation_id": 1, "model_info": {}}`} {
		for _, f := range Benchmark().Logs {
			if f.Holds([]byte(other)) {
				t.Errorf("%s recognizes %q", f.Name, other)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"inspect/good.eval", "inspect/deflate.eval", "inspect/bad.json", "swebench/agent.1.json"} {
		content, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(content))
	}
	for _, content := range []string{
		`{"doc_id": 1, "doc": {}, "metrics": ["acc"], "acc": 1, "filter": "none"}`,
		line("a", "1", `, "evaluation": {"score": 1, "is_correct": true}`),
		`{"total_instances": 2, "resolved_ids": ["a"], "unresolved_ids": ["b"], "infra_failure_ids": ["b"], "incomplete_ids": ["c"]}`,
		`{"a": {"patch_is_None": false, "patch_exists": true, "resolved": true}}`,
		`[{"instance_id": "a", "model_name_or_path": "m", "model_patch": null}]`,
		"<testsuite><testcase classname='a' name='b'><failure message='c'/></testcase></testsuite>",
		"model,problem,score,attempt,error\na,p,1,1,\n",
	} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) {
		for _, format := range Benchmark().Logs {
			format.Holds([]byte(content[:min(len(content), plan.LogHead)]))
			logs, err := format.Read(textfile.Open(t, "x", content))
			if err == nil && (len(logs) == 0 || len(logs[0].Attempts) == 0) {
				t.Errorf("%s: an empty log is not rejected", format.Name)
			}
		}
	})
}
