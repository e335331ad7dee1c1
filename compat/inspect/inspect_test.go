package inspect

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

func readFile(t *testing.T, path string) (*plan.Log, error) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	head := make([]byte, plan.LogHead)
	if n, _ := file.ReadAt(head, 0); !holds(head[:n]) {
		t.Errorf("%s is not recognized", path)
	}
	logs, err := read(file)
	if err != nil {
		return nil, err
	}
	return logs[0], nil
}

// The reader's result equals that of inspect_ai's reader.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	var expected map[string]struct {
		Accuracy map[string]float64
		Samples  []struct {
			ID                  string
			Epoch               int
			Error, Limit, Match *string
		}
	}
	if err := json.Unmarshal(text, &expected); err != nil {
		t.Fatal(err)
	}
	expected["deflate.eval"] = expected["good.eval"]
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			l, err := readFile(t, filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			if len(want.Samples) != 16 || len(l.Attempts) != len(want.Samples) || l.Metrics[0] != "match" || !strings.HasPrefix(l.Name, "mockllm/") {
				t.Fatalf("%d attempts at %s of %s, want %d", len(l.Attempts), l.Metrics, l.Name, len(want.Samples))
			}
			got := map[sampleKey]plan.LogAttempt{}
			for _, a := range l.Attempts {
				got[sampleKey{a.Problem, a.Repeat}] = a
			}
			values := map[string]map[string][]float64{"match": {}, "closeness": {}}
			for _, s := range want.Samples {
				a := got[sampleKey{"sums/" + s.ID, s.Epoch}]
				v, scored := a.Values["match"]
				if scored != (s.Match != nil) || scored && v != map[string]float64{"C": 1, "I": 0}[*s.Match] {
					t.Errorf("%s: match is %v, %v", s.ID, v, scored)
				}
				if s.Error != nil && (a.Class != verdict.NotJudged || a.Message != *s.Error) || s.Error == nil && a.Class != verdict.Judged {
					t.Errorf("%s: %s, %q", s.ID, a.Class, a.Message)
				}
				for metric, v := range a.Values {
					values[metric][s.ID] = append(values[metric][s.ID], v)
				}
			}
			values["closeness"]["q7"] = []float64{0} // inspect_ai counts the text as 0
			for metric, of := range values {
				sum := 0.0
				for _, all := range of {
					for _, v := range all {
						sum += v / float64(len(all))
					}
				}
				if mean := sum / float64(len(of)); math.Abs(mean-want.Accuracy[metric]) > 1e-12 {
					t.Errorf("the mean of %s is %v, want inspect_ai's %v", metric, mean, want.Accuracy[metric])
				}
			}
			for _, note := range []string{"2 attempts ended by an error", "2 attempts ended by a limit", "2 scores of closeness without a number"} {
				if !strings.Contains(strings.Join(l.Notes, "\n"), note) {
					t.Errorf("no note %q: %q", note, l.Notes)
				}
			}
		})
	}
}

// Means and standard errors of a whole log equal those of inspect_ai.
func TestPair(t *testing.T) {
	text, err := os.ReadFile("testdata/pair.json")
	if err != nil {
		t.Fatal(err)
	}
	var pair map[string]struct{ Accuracy, Stderr float64 }
	if err := json.Unmarshal(text, &pair); err != nil || len(pair) != 2 {
		t.Fatalf("%d logs, %v", len(pair), err)
	}
	for name, want := range pair {
		l, err := readFile(t, filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		n, sum := float64(len(l.Attempts)), 0.0
		for _, a := range l.Attempts {
			sum += a.Values["match"]
		}
		mean := sum / n // of values that are 0 or 1
		if stderr := math.Sqrt(mean * (1 - mean) / (n - 1)); n != 60 || math.Abs(mean-want.Accuracy) > 1e-12 || math.Abs(stderr-want.Stderr) > 1e-12 {
			t.Errorf("%s: %v ± %v of %v samples, want inspect_ai's %+v", name, mean, stderr, n, want)
		}
	}
}

const header = `{"version": 2, "status": "started", "eval": {"task": "t", "model": "m", "scorers": [{"name": "s"}]}`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestScores(t *testing.T) {
	for value, want := range map[string]map[string]float64{
		`"C"`: {"s": 1}, `"P"`: {"s": 0.5}, `"N"`: {"s": 0}, `true`: {"s": 1}, `"No"`: {"s": 0}, `" 2.5"`: {"s": 2.5}, `-3`: {"s": -3},
		`NaN`: {}, `-Infinity`: {}, `"nan"`: {}, `null`: {}, `[1]`: {"s": 0}, `["C", "I"]`: {"s": 0}, `{"a": [1]}`: {"s.a": 0}, `"unclear"`: {}, `{"a": 1, "b": "C", "c": NaN}`: {"s.a": 1, "s.b": 1},
	} {
		l, err := readFile(t, write(t, "x.json", header+`, "samples": [{"id": 7, "epoch": 1, "scores": {"s": {"value": `+value+`}}}]}`))
		if err != nil || l.Attempts[0].Problem != "t/7" {
			t.Fatalf("%s: %v", value, err)
		}
		got := l.Attempts[0].Values
		if len(got) != len(want) {
			t.Errorf("%s: %v, want %v", value, got, want)
		}
		for metric, v := range want {
			if got[metric] != v {
				t.Errorf("%s: %v, want %v", value, got, want)
			}
		}
	}
}

// Samples that were marked as invalid count, as in inspect_ai, and a note reports them.
func TestInvalidated(t *testing.T) {
	l, err := readFile(t, write(t, "x.json", header+`, "invalidated": true, "samples": [{"id": 7, "epoch": 1, "scores": {"s": {"value": 1}}, "invalidation": {}}]}`))
	if err != nil || len(l.Attempts[0].Values) != 1 || !strings.Contains(strings.Join(l.Notes, "\n"), "marked as invalid") {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestBrokenJSON(t *testing.T) {
	sample := `{"id": "a", "epoch": 1, "scores": {}}`
	many := ""
	for i := range maxMetrics {
		many += fmt.Sprintf(`, "%d": 1`, i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"cut off":      {header + `, "samples": [` + sample + `, {"id": "b", "ep`, `at "samples.1": unexpected end of the file`},
		"twice":        {header + `, "samples": [` + sample + `, ` + sample + `]}`, `at "samples.1": epoch 1 of sample a is duplicated`},
		"no id":        {header + `, "samples": [{"id": {}, "epoch": 1}]}`, `at "samples.0": want an id`},
		"no epoch":     {header + `, "samples": [{"id": "a"}]}`, `at "samples.0": sample a: want an epoch`},
		"no list":      {header + `, "samples": {}}`, `at "samples": want an array`},
		"no samples":   {header + `}`, "it has no samples"},
		"metrics":      {header + `, "samples": [{"id": "a", "epoch": 1, "scores": {"s": {"value": {"a": 1` + many + `}}}}]}`, `at "samples.0": more than 1000 metrics`},
		"a scorer":     {header + `, "samples": [{"id": "a", "epoch": 1, "scores": {"` + strings.Repeat("s", 5000) + `": {"value": 1}}}]}`, "is longer than 4096 bytes"},
		"a key":        {header + `, "samples": [{"id": "a", "epoch": 1, "scores": {"s": {"value": {"` + strings.Repeat("k", 5000) + `": 1}}}}]}`, "is longer than 4096 bytes"},
		"more behind":  {header + `, "samples": [` + sample + `]} {}`, "after the end"},
		"deep":         {header + `, "x": ` + strings.Repeat("[", 100_000) + `}`, `at "x": `},
		"a large text": {header + `, "samples": [{"id": "` + strings.Repeat("a", 65<<20) + `"}]}`, `at "samples.0": a value is larger than 64 MiB`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readFile(t, write(t, "x.json", c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// archive writes an archive whose members are given in pairs of name and content.
func archive(t *testing.T, members ...string) string {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "x.eval"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z := zip.NewWriter(file)
	for i := 0; i < len(members); i += 2 {
		w, err := z.Create(members[i])
		if err == nil {
			_, err = io.WriteString(w, members[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return file.Name()
}

// A run that did not end has neither header nor all summaries.
func TestUnfinished(t *testing.T) {
	l, err := readFile(t, archive(t, startMember, header+"}",
		"../../evil", "x", partPrefix+"2.json", `[{"id": "b", "epoch": 1}]`, partPrefix+"1.json", `[{"id": "a", "epoch": 1, "scores": {"s": {"value": "I"}}}]`))
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Attempts) != 2 || l.Attempts[0].Problem != "t/a" || len(l.Attempts[0].Values) != 1 || len(l.Attempts[1].Values) != 0 {
		t.Errorf("%+v", l.Attempts)
	}
	if len(l.Notes) != 1 || l.Notes[0] != "the run did not end well: its status is started" {
		t.Errorf("%q", l.Notes)
	}
}

func TestBrokenArchive(t *testing.T) {
	whole, err := os.ReadFile("testdata/good.eval")
	if err != nil {
		t.Fatal(err)
	}
	damaged := []byte(string(whole))
	for i := range 40 { // within the last members, before the directory
		damaged[len(damaged)*3/4+i] ^= 0xff
	}
	start := header + "}"
	for name, c := range map[string]struct{ path, want string }{
		"cut off":   {write(t, "x.eval", string(whole[:len(whole)/2])), "the archive is damaged or cut off"},
		"twice":     {archive(t, startMember, start, "a", "", "a", ""), `two members "a"`},
		"no JSON":   {archive(t, startMember, start, summaryMember, "[{]"), summaryMember + `: at "0": invalid character`},
		"expanding": {archive(t, startMember, start, summaryMember, "["+strings.Repeat(" ", 65<<20)), summaryMember + ": a value is larger than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readFile(t, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	if _, err := readFile(t, write(t, "x.eval", string(damaged))); err == nil {
		t.Error("a damaged archive is not rejected")
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"good.eval", "deflate.eval", "bad.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		holds(text[:min(len(text), plan.LogHead)])
		if logs, err := read(file); err == nil && (len(logs[0].Attempts) == 0 || logs[0].Name == "") {
			t.Error("an empty log is not rejected")
		}
	})
}
