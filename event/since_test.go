package event

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A run that decides about some nodes alone has all of them in its record, as
// they were last, and so has one that is the same as that.
func TestRecordSince(t *testing.T) {
	state := t.TempDir()
	record := func(run string, write func(r *Recorder) error) {
		t.Helper()
		r, err := NewRecorder(state, run)
		if err != nil {
			t.Fatal(err)
		}
		r.Emit(RunStart{Type: "run.start", Run: run})
		if err := write(r); err != nil {
			t.Fatal(err)
		}
		r.Emit(RunEnd{Type: "run.end", Run: run})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	done := func(r *Recorder, addr, key string, state State) {
		r.Emit(NodeDone{Type: "node.done", Addr: addr, Key: key, State: state, Seconds: 1})
	}
	record("1", func(r *Recorder) error {
		done(r, "a", "a1", Done)
		done(r, "b", "b1", Cached)
		done(r, "c", "c1", Done)
		return r.SaveResults([]byte("one"))
	})
	part := func(as, addr, key string) func(r *Recorder) error {
		return func(r *Recorder) error {
			err := r.Since(RunSame{Type: "run.same", As: as, Nodes: 2})
			done(r, addr, key, Done)
			if err == nil {
				err = r.SaveResults([]byte(key))
			}
			return err
		}
	}
	record("2", part("1", "a", "a2"))
	record("3", part("2", "b", "b3"))
	record("4", part("3", "a", "a4"))
	record("5", func(r *Recorder) error { return r.Same(RunSame{Type: "run.same", As: "4", Nodes: 3}) })
	record("6", func(r *Recorder) error { return r.Same(RunSame{Type: "run.same", As: "5", Nodes: 3}) })
	for _, run := range []string{"1", "2"} { // whatever becomes of the first ones
		if err := os.RemoveAll(filepath.Join(state, runsDir, run)); err != nil {
			t.Fatal(err)
		}
	}
	for run, want := range map[string]map[string]string{
		"3": {"a": "a2 cached", "b": "b3 done", "c": "c1 cached"},
		"4": {"a": "a4 done", "b": "b3 cached", "c": "c1 cached"},
		"5": {"a": "a4 cached", "b": "b3 cached", "c": "c1 cached"},
		"6": {"a": "a4 cached", "b": "b3 cached", "c": "c1 cached"},
	} {
		past, err := FindRun(state, run)
		if err != nil {
			t.Fatal(err)
		}
		got, seen := map[string]string{}, 0
		err = past.Each(func(e Event) bool {
			if done, ok := e.(NodeDone); ok {
				seen++
				got[done.Addr] = done.Key + " " + string(done.State)
			}
			return true
		})
		if err != nil || !maps.Equal(got, want) || seen != len(want) {
			t.Errorf("run %s: %v, %d nodes, %v; want %v", run, got, seen, err, want)
		}
		if one, err := past.Node("a"); err != nil || one == nil || one.Key+" "+string(one.State) != want["a"] {
			t.Errorf("run %s: node a is %+v, %v", run, one, err)
		}
	}
	past, err := FindRun(state, "6")
	if err != nil {
		t.Fatal(err)
	}
	if results, err := past.Results(); err != nil || !slices.Equal(results, []byte("a4")) {
		t.Errorf("results %q, %v", results, err)
	}
}

// recordResults records a run that saves results.
func recordResults(t *testing.T, state, run string, save func(r *Recorder) error) *Run {
	t.Helper()
	r, err := NewRecorder(state, run)
	if err == nil {
		err = save(r)
	}
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return OpenRun(state, run)
}

// Results that are those of another run with patches are read as if they had been
// written whole, whatever becomes of that run's record.
func TestResultsSince(t *testing.T) {
	state := t.TempDir()
	const whole = `{"run":"1","cells":[{"a":1},{"b":"<é>"},{"c":3}]}` + "\n"
	at := func(text, by string) Patch {
		return Patch{At: int64(strings.Index(whole, text)), Size: int64(len(text)), By: json.RawMessage(by)}
	}
	a, b, longer := at(`{"a":1}`, `{"a":22}`), at(`{"b":"<é>"}`, `{}`), at(`{"b":"<é>"}`, `{"b":"</script>&é\u2028"}`)
	recordResults(t, state, "1", func(r *Recorder) error { return r.SaveResults([]byte(whole)) })
	recordResults(t, state, "2", func(r *Recorder) error { return r.SaveResultsSince("1", []Patch{b}) })
	recordResults(t, state, "3", func(r *Recorder) error { return r.SaveResultsSince("2", []Patch{longer, a}) }) // in no order
	recordResults(t, state, "4", func(r *Recorder) error { return r.Same(RunSame{Type: "run.same", As: "3"}) })
	recordResults(t, state, "5", func(r *Recorder) error { return r.SaveResultsSince("4", nil) })
	for _, run := range []string{"1", "2"} {
		if err := os.RemoveAll(filepath.Join(state, runsDir, run)); err != nil {
			t.Fatal(err)
		}
	}
	patched := `{"run":"1","cells":[{"a":22},{"b":"</script>&é\u2028"},{"c":3}]}` + "\n"
	for run, want := range map[string]string{"3": patched, "4": patched, "5": whole} {
		got, err := OpenRun(state, run).Results()
		if err != nil || string(got) != want {
			t.Errorf("run %s: %s, %v; want %s", run, got, err, want)
		}
		if r := OpenRun(state, run); !r.Whole() {
			t.Errorf("run %s is not whole", run)
		}
	}
	if err := OpenRun(state, "4").SameResults("3"); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"5", "gone"} {
		if OpenRun(state, "4").SameResults(other) == nil {
			t.Errorf("runs 4 and %s have the same results", other)
		}
	}
}

// Every file that results are made of is looked at.
func TestResultsSinceDamaged(t *testing.T) {
	const whole = `{"run":"1","cells":[{"a":1},{"b":2}]}`
	for _, name := range []string{sameResults, patchesFile} {
		for how, spoil := range map[string]func(path string) error{
			"gone": os.Remove,
			"another": func(path string) error {
				content, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				content[len(content)/2] ^= 1
				return errors.Join(os.Remove(path), os.WriteFile(path, content, 0o644))
			},
			"empty": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o644)) },
		} {
			state := t.TempDir()
			recordResults(t, state, "1", func(r *Recorder) error { return r.SaveResults([]byte(whole)) })
			run := recordResults(t, state, "2", func(r *Recorder) error {
				return r.SaveResultsSince("1", []Patch{{At: 20, Size: 7, By: json.RawMessage(`{"a":3}`)}})
			})
			if err := spoil(filepath.Join(state, runsDir, "2", name)); err != nil {
				t.Fatal(err)
			}
			got, err := run.Results()
			var damaged *DamagedError
			ended := !errors.As(err, &damaged) && !errors.Is(err, fs.ErrNotExist)
			if ended || how != "gone" && (damaged == nil || damaged.File != name) {
				t.Errorf("%s %s: %q, %v", name, how, got, err)
			}
			if results, err := OpenRun(state, "1").Results(); err != nil || string(results) != whole {
				t.Errorf("%s %s: the run before has %q, %v", name, how, results, err)
			}
		}
	}
}

// Patches that cannot be are refused, however they got there.
func TestApply(t *testing.T) {
	const content = "0123456789"
	for name, patches := range map[string][]Patch{
		"overlapping": {{At: 1, Size: 3}, {At: 3, Size: 1}},
		"outside":     {{At: 9, Size: 2}},
		"before":      {{At: -1, Size: 1}},
		"negative":    {{At: 1, Size: -1}},
		"large":       {{At: 1, Size: -1 << 62}},
		"far away":    {{At: 1 << 62, Size: 1}},
	} {
		if got, err := apply([]byte(content), patches); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
	got, err := apply([]byte(content), []Patch{{At: 0, Size: 1, By: json.RawMessage("ab")}, {At: 1, Size: 0, By: json.RawMessage("c")}, {At: 9, Size: 1}})
	if want := "abc12345678"; err != nil || string(got) != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

func FuzzPatches(f *testing.F) {
	f.Add([]byte(`[{"at":1,"size":2,"by":{}}]`))
	f.Add([]byte(`[{"at":9223372036854775807,"size":9223372036854775807,"by":{}}]`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		var patches []Patch
		if json.Unmarshal(b, &patches) == nil {
			_, _ = apply([]byte("0123456789"), patches)
		}
	})
}
