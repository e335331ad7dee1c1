package logs

import (
	"archive/zip"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/internal/testkit/textfile"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// The reader's result equals that of inspect_ai's reader.
func TestInspectRecorded(t *testing.T) {
	var expected map[string]struct {
		Accuracy map[string]float64
		Samples  []struct {
			ID                  string
			Epoch               int
			Error, Limit, Match *string
		}
	}
	decode(t, "inspect/expected.json", &expected)
	expected["deflate.eval"] = expected["good.eval"]
	for name, want := range expected {
		t.Run(name, func(t *testing.T) {
			l := readOne(t, inspect, "inspect/"+name)
			if len(want.Samples) != 16 || len(l.Attempts) != len(want.Samples) || l.Metrics[0] != "match" || !strings.HasPrefix(l.Name, "mockllm/") {
				t.Fatalf("%d attempts at %s of %s, want %d", len(l.Attempts), l.Metrics, l.Name, len(want.Samples))
			}
			got := map[part]plan.LogAttempt{}
			for _, a := range l.Attempts {
				got[part{problem: a.Problem, repeat: a.Repeat}] = a
			}
			values := map[string]map[string][]float64{"match": {}, "closeness": {}}
			for _, s := range want.Samples {
				a := got[part{problem: "sums/" + s.ID, repeat: s.Epoch}]
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

const inspected = `{"version": 2, "status": "started", "eval": {"task": "t", "model": "m", "scorers": [{"name": "s"}]}`

func TestInspectScores(t *testing.T) {
	for value, want := range map[string]map[string]float64{
		`"C"`: {"s": 1}, `"P"`: {"s": 0.5}, `"N"`: {"s": 0}, `true`: {"s": 1}, `"No"`: {"s": 0}, `" 2.5"`: {"s": 2.5}, `-3`: {"s": -3},
		`NaN`: {}, `-Infinity`: {}, `"nan"`: {}, `null`: {}, `[1]`: {"s": 0}, `["C", "I"]`: {"s": 0}, `{"a": [1]}`: {"s.a": 0}, `"unclear"`: {}, `{"a": 1, "b": "C", "c": NaN}`: {"s.a": 1, "s.b": 1},
	} {
		logs, err := readText(t, inspect, "x.json", inspected+`, "samples": [{"id": 7, "epoch": 1, "scores": {"s": {"value": `+value+`}}}]}`)
		if err != nil || logs[0].Attempts[0].Problem != "t/7" {
			t.Fatalf("%s: %v", value, err)
		}
		got := logs[0].Attempts[0].Values
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
	logs, err := readText(t, inspect, "x.json", inspected+`, "invalidated": true, "samples": [{"id": 7, "epoch": 1, "scores": {"s": {"value": 1}}, "invalidation": {}}]}`)
	if err != nil || len(logs[0].Attempts[0].Values) != 1 || !strings.Contains(strings.Join(logs[0].Notes, "\n"), "marked as invalid") {
		t.Errorf("%+v, %v", logs, err)
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
	logs, err := inspect.readFile(textfile.OpenAt(t, archive(t, startMember, inspected+"}",
		"../../evil", "x", partPrefix+"2.json", `[{"id": "b", "epoch": 1}]`, partPrefix+"1.json", `[{"id": "a", "epoch": 1, "scores": {"s": {"value": "I"}}}]`)))
	if err != nil {
		t.Fatal(err)
	}
	l := logs[0]
	if len(l.Attempts) != 2 || l.Attempts[0].Problem != "t/a" || len(l.Attempts[0].Values) != 1 || len(l.Attempts[1].Values) != 0 {
		t.Errorf("%+v", l.Attempts)
	}
	if len(l.Notes) != 1 || l.Notes[0] != "the run did not end well: its status is started" {
		t.Errorf("%q", l.Notes)
	}
}

func TestBrokenArchive(t *testing.T) {
	whole, err := os.ReadFile("testdata/inspect/good.eval")
	if err != nil {
		t.Fatal(err)
	}
	damaged := []byte(string(whole))
	for i := range 40 { // within the last members, before the directory
		damaged[len(damaged)*3/4+i] ^= 0xff
	}
	start := inspected + "}"
	for name, c := range map[string]struct{ path, want string }{
		"cut off":   {textfile.Open(t, "x.eval", string(whole[:len(whole)/2])).Name(), "the archive is damaged or cut off"},
		"twice":     {archive(t, startMember, start, "a", "", "a", ""), `two members "a"`},
		"no JSON":   {archive(t, startMember, start, summaryMember, "[{]"), summaryMember + `: at "0": invalid character`},
		"expanding": {archive(t, startMember, start, summaryMember, "["+strings.Repeat(" ", 65<<20)), summaryMember + ": a value is larger than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := inspect.readFile(textfile.OpenAt(t, c.path)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	if _, err := inspect.readFile(textfile.Open(t, "x.eval", string(damaged))); err == nil {
		t.Error("a damaged archive is not rejected")
	}
}
