package event

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
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
