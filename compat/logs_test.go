package compat

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/longtest"
	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
)

// logFile is a file of a format.
type logFile struct {
	name, format, content string
	lines                 bool // it can end after any line
}

func logFiles(t *testing.T) []logFile {
	t.Helper()
	read := func(path string) string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	return []logFile{
		{"good.eval", "inspect", read("logs/testdata/inspect/good.eval"), false},
		{"deflate.eval", "inspect", read("logs/testdata/inspect/deflate.eval"), false},
		{"bad.json", "inspect", read("logs/testdata/inspect/bad.json"), false},
		{"agent.1.json", "swebench", read("logs/testdata/swebench/agent.1.json"), false},
		{"predictions.json", "swebench", `[{"instance_id": "a", "model_name_or_path": "m", "model_patch": "x"}, {"instance_id": "b", "model_name_or_path": "m", "model_patch": ""}]`, false},
		{"predictions.jsonl", "swebench", `{"instance_id": "a", "model_name_or_path": "m", "model_patch": "x"}` + "\n" + `{"instance_id": "b", "model_name_or_path": "m", "model_patch": ""}` + "\n", true},
		{"samples_sums.jsonl", "lm-eval", read("logs/testdata/lmeval/samples_sums_2026-11-27T15-21-11.030332.jsonl"), true},
		{"result.json", "harbor", `{"task_name": "org/a", "trial_name": "a__1", "finished_at": "2026-01-01T00:00:00Z", "agent_info": {"name": "coder"}, "verifier_result": {"rewards": {"reward": 1}}}`, false},
		{"pytest.xml", "junit", read("logs/testdata/junit/pytest.xml"), false},
		{"samples.jsonl", "every_eval_ever", read("logs/testdata/everyeval/samples.jsonl"), true},
		{"scores.csv", "csv", "problem,score,model\na,1,m\nb,0.5,m\nc,,m\n", true},
	}
}

// readAs reads a file of a format, and checks that its results are usable and its error is short.
func readAs(t *testing.T, format, name, content string) ([]*plan.Log, error) {
	t.Helper()
	for _, f := range plan.LogFormats(Benchmarks()) {
		if f.Name != format {
			continue
		}
		logs, err := f.Read(textfile.Open(t, name, content))
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes: %.200s", len(err.Error()), err)
			}
			return nil, err
		}
		for _, l := range logs {
			if len(l.Attempts) == 0 || len(l.Metrics) == 0 {
				t.Error("an empty log is accepted")
			}
			for _, a := range l.Attempts {
				for metric, v := range a.Values {
					if math.IsNaN(v) || math.IsInf(v, 0) || a.Problem == "" || a.Repeat < 1 {
						t.Errorf("%s of %q, %d: %v", metric, a.Problem, a.Repeat, v)
					}
				}
			}
		}
		return logs, nil
	}
	t.Fatalf("no format %s", format)
	return nil, nil
}

// A file that ends early is an error, unless that cannot be seen: lines of JSON and of CSV can end after any of them.
func TestTruncatedLogs(t *testing.T) {
	for _, f := range logFiles(t) {
		t.Run(f.name, func(t *testing.T) {
			whole := strings.TrimRight(f.content, "\n")
			if _, err := readAs(t, f.format, f.name, f.content); err != nil {
				t.Fatal(err)
			}
			step := max(1, min(1024, len(whole)/40))
			for n := 0; n < len(whole); n += step {
				cut := whole[:n]
				_, err := readAs(t, f.format, f.name, cut)
				if at := strings.LastIndexByte(cut, '\n'); f.lines && (f.format == "csv" || at >= 0 && strings.TrimSpace(cut[at:]) == "") {
					continue
				}
				if err == nil {
					t.Errorf("cut off at %d of %d bytes, it is read", n, len(whole))
				}
			}
		})
	}
}

// Deep, long, empty and binary files are errors, in bounded memory.
func TestHostileLogs(t *testing.T) {
	deep := func(open string) string { return strings.Repeat(open, 2_000_000) }
	const line = 70 << 20
	for _, f := range logFiles(t) {
		start := map[string]string{
			"inspect": `{"status": "success", "eval": {"task": "t"}, "samples": [{"id": `, "swebench": `{"total_instances": 1, "resolved_ids": [`, "lm-eval": `{"doc_id": `, "harbor": `{"task_name": `,
			"junit": `<testsuites>`, "every_eval_ever": `{"sample_id": `, "csv": "problem,score\na,\"",
		}[f.format]
		hostile := map[string]string{"empty": "", "spaces": strings.Repeat(" ", 1<<20), "zeros": strings.Repeat("\x00", 1<<20), "not UTF-8": start + "\"\xff\xfe", "a long text": start + `"` + strings.Repeat("a", line)}
		switch f.format {
		case "junit":
			hostile["deep"], hostile["a long text"] = start+deep("<testsuite>"), start+`<testcase name="`+strings.Repeat("a", line)
			hostile["entities"] = `<!DOCTYPE x [<!ENTITY a "` + strings.Repeat("a", 1000) + `"><!ENTITY b "&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>`
		case "csv":
		default:
			hostile["deep"], hostile["deep objects"] = start+deep("["), start+deep(`{"a":`)
		}
		if strings.HasSuffix(f.name, ".eval") {
			hostile = map[string]string{"not an archive": "PK\x03\x04" + strings.Repeat("\x00", 1<<20)}
		}
		for name, content := range hostile {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				if len(content) > line {
					longtest.Skip(t)
				}
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				logs, err := readAs(t, f.format, f.name, content)
				runtime.ReadMemStats(&after)
				if err == nil {
					t.Errorf("%d logs and no error", len(logs))
				}
				if grown := int64(after.Sys) - int64(before.Sys); grown > 600<<20 {
					t.Errorf("%d MiB: %v", grown>>20, err)
				}
			})
		}
	}
}

// Numbers that are no valid score have no value, and duplicates are errors.
func TestStrangeValues(t *testing.T) {
	for _, number := range []string{"NaN", "Infinity", "-Infinity", "1e999", "null"} {
		for format, text := range map[string]string{
			"inspect": `{"status": "success", "eval": {"task": "t", "model": "m"}, "samples": [{"id": "a", "epoch": 1, "scores": {"s": {"value": %s}}}]}`,
			"lm-eval": `{"doc_id": 1, "filter": "none", "metrics": ["acc", "f1"], "acc": %s, "f1": 1}`,
			"harbor":  `{"task_name": "a", "trial_name": "a", "finished_at": "x", "verifier_result": {"rewards": {"reward": %s}}}`,
			"csv":     "problem,score,f1\na,%s,1\n",
		} {
			logs, err := readAs(t, format, "x", fmt.Sprintf(text, number))
			if err == nil && len(logs[0].Attempts[0].Values) > 1 {
				t.Errorf("%s of %s: %v", number, format, logs[0].Attempts[0].Values)
			}
		}
	}
	for _, f := range logFiles(t) {
		twice := f.content + f.content
		switch {
		case f.format == "csv" || f.format == "junit" || f.format == "harbor" || filepath.Ext(f.name) == ".eval":
			continue // more rows and tests of a name are more attempts
		}
		if _, err := readAs(t, f.format, f.name, twice); err == nil {
			t.Errorf("%s twice in a file is accepted", f.name)
		}
	}
}
