package event

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func record(t *testing.T, state, run string, events ...Event) {
	t.Helper()
	r, err := NewRecorder(Records{Dir: state}, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		r.Emit(e)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// A run that evaluated what no block declares is found by its id, and is never the latest or one before.
func TestLatestIsNeverAdHoc(t *testing.T) {
	state := t.TempDir()
	for _, run := range []string{"a", "b-eval", "c", "d-eval"} {
		r, err := NewRecorder(Records{Dir: state}, run)
		if err != nil {
			t.Fatal(err)
		}
		r.Emit(RunStart{Type: "run.start", Schema: Schema, Run: run, AdHoc: strings.HasSuffix(run, "-eval")})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if run == "b-eval" {
			if err := os.Remove(LatestFile(state)); err != nil { // as after a crash of the first run
				t.Fatal(err)
			}
			if found, err := FindRun(Records{Dir: state}, "latest"); err != nil || found.ID != "a" {
				t.Errorf("without the file the latest is %v, %v", found, err)
			}
		}
	}
	for name, want := range map[string]string{"latest": "c", "": "c", "latest~0": "c", "latest~1": "a", "d-eval": "d-eval"} {
		if run, err := FindRun(Records{Dir: state}, name); err != nil || run.ID != want {
			t.Errorf("%q is %v, %v, want %s", name, run, err, want)
		}
	}
	if _, err := FindRun(Records{Dir: state}, "latest~2"); err == nil || err.Error() != "latest~2: the latest run has 1 before it; `fevalgraph runs` lists them" {
		t.Errorf("latest~2: %v", err)
	}
	only := t.TempDir()
	r, err := NewRecorder(Records{Dir: only}, "x")
	if err != nil {
		t.Fatal(err)
	}
	r.Emit(RunStart{Type: "run.start", Schema: Schema, Run: "x", AdHoc: true})
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := FindRun(Records{Dir: only}, "latest"); !errors.Is(err, ErrNoRuns) {
		t.Errorf("the only run is of eval: %v", err)
	}
}

func TestRecorder(t *testing.T) {
	state := t.TempDir()
	r, err := NewRecorder(Records{Dir: state}, "run1")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, "runs", "run1", EventsFile)
	size := func() int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for _, e := range every[:len(every)-2] {
		before := size()
		r.Emit(e.event)
		if got, want := size()-before, int64(len(e.line)+1); got != want {
			t.Errorf("%T: %d bytes are written, want %d: a crash would lose it", e.event, got, want)
		}
	}
	before := size()
	r.Emit(NodeDone{Type: "node.done", Addr: "fresh", State: Cached})
	if size() != before {
		t.Error("what happens to cached nodes is not written in blocks")
	}
	r.Emit(every[len(every)-2].event)
	r.SaveLog("pytest:kv/a", 1, []byte("first"))
	r.SaveLog("pytest:kv/a", 2, []byte("second"))
	if err := r.SaveManifest([]string{"ab"}, nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(state, "latest")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run that goes on is the latest: %v", err)
	}
	r.Emit(every[len(every)-1].event)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	run := OpenRun(Records{Dir: state}, "run1")
	n := 0
	if err := run.Each(func(Event) bool { n++; return true }); err != nil || n != len(every)+1 {
		t.Errorf("%d events, %v", n, err)
	}
	n = 0
	if err := run.Each(func(Event) bool { n++; return n < 3 }); err != nil || n != 3 {
		t.Errorf("stopped after %d, %v", n, err)
	}
	if done, err := run.Node("fresh"); err != nil || done.State != Cached {
		t.Errorf("%+v, %v", done, err)
	}
	if done, err := run.Node("none"); err != nil || done != nil {
		t.Errorf("%+v, %v", done, err)
	}
	if b, err := run.Log("pytest:kv/a"); err != nil || string(b) != "second" {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := run.Log("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if m, err := run.Manifest(); err != nil || m.Run != "run1" || !slices.Equal(m.Partitions, []string{"ab"}) {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestTruncated: a truncated line and rubbish are skipped, and later lines are read.
func TestTruncated(t *testing.T) {
	state := t.TempDir()
	record(t, state, "run1")
	if err := os.Remove(filepath.Join(state, "runs", "run1", SumsFile)); err != nil { // it comes last
		t.Fatal(err)
	}
	lines := every[0].line + "\n" + every[2].line[:20] + "\n\nrubbish\n" + every[6].line + "\n" + strings.Repeat("x", 1<<20) + "\n" + every[len(every)-1].line[:30]
	if err := os.WriteFile(filepath.Join(state, "runs", "run1", EventsFile), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	run, err := FindRun(Records{Dir: state}, "run1")
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	err = run.Each(func(e Event) bool {
		switch e.(type) {
		case RunStart:
			types = append(types, "start")
		case NodeDone:
			types = append(types, "done")
		default:
			types = append(types, "other")
		}
		return true
	})
	if err != nil || !slices.Equal(types, []string{"start", "done"}) {
		t.Errorf("%q, %v", types, err)
	}
}

// TestNodeRunsTwice: of a node that was taken back, the last end counts.
func TestNodeRunsTwice(t *testing.T) {
	state := t.TempDir()
	record(t, state, "run1", NodeDone{Type: "node.done", Addr: "a", State: Cached}, NodeReopened{Type: "node.reopened", Addr: "a", State: Cached}, NodeDone{Type: "node.done", Addr: "a", State: Done})
	run, _ := FindRun(Records{Dir: state}, "run1")
	if done, err := run.Node("a"); err != nil || done.State != Done {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestRecorderFails(t *testing.T) {
	state := t.TempDir()
	r, err := NewRecorder(Records{Dir: state}, "run1")
	if err != nil {
		t.Fatal(err)
	}
	// A log that cannot be written is reported at the end and costs no events.
	if err := os.WriteFile(filepath.Join(state, "runs", "run1", "logs"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	r.SaveLog("a", 1, []byte("x"))
	r.Emit(every[len(every)-1].event)
	if err := r.Close(); err == nil || !strings.Contains(err.Error(), "writing the run record") {
		t.Errorf("%v", err)
	}
	if b, err := os.ReadFile(filepath.Join(state, "runs", "run1", EventsFile)); err != nil || string(b) != every[len(every)-1].line+"\n" {
		t.Errorf("%q, %v", b, err)
	}
	if err := os.WriteFile(filepath.Join(state, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := NewRecorder(Records{Dir: filepath.Join(state, "file")}, "run1"); err == nil {
		t.Error("no error for a state directory that is a file")
	}
}

func TestFindRun(t *testing.T) {
	state := t.TempDir()
	if _, err := FindRun(Records{Dir: state}, ""); !errors.Is(err, ErrNoRuns) {
		t.Errorf("%v", err)
	}
	if ids, err := Runs(Records{Dir: state}); err != nil || ids != nil {
		t.Errorf("%q, %v", ids, err)
	}
	runs := []string{"20260101-100000-aa11", "20260101-100000-bb22", "20260102-090000-cc33"}
	for _, run := range []int{2, 0, 1} { // the last one to end
		record(t, state, runs[run])
	}
	if err := os.WriteFile(filepath.Join(state, "runs", "stray"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if ids, err := Runs(Records{Dir: state}); err != nil || !slices.Equal(ids, runs) {
		t.Errorf("%q, %v", ids, err)
	}
	for _, try := range []struct{ name, want, err string }{
		{name: "", want: runs[1]},
		{name: "latest", want: runs[1]},
		{name: runs[0], want: runs[0]},
		{name: "20260102", want: runs[2]},
		{name: "bb22", want: runs[1]},
		{name: "0000-c", want: runs[2]},
		{name: "20260101", err: `"20260101" matches several runs: 20260101-100000-aa11, 20260101-100000-bb22`},
		{name: "dd", err: `unknown run "dd"; the latest is 20260102-090000-cc33`},
		{name: "../runs", err: `unknown run "../runs"`},
		{name: "stray", err: "unknown run"},
	} {
		run, err := FindRun(Records{Dir: state}, try.name)
		switch {
		case try.err != "":
			if err == nil || !strings.HasPrefix(err.Error(), try.err) {
				t.Errorf("%q: %v, want %s", try.name, err, try.err)
			}
		case err != nil || run.ID != try.want:
			t.Errorf("%q: %+v, %v; want %s", try.name, run, err, try.want)
		}
	}
	// An id that is a part of another is still found.
	record(t, state, "20260101")
	if run, err := FindRun(Records{Dir: state}, "20260101"); err != nil || run.ID != "20260101" {
		t.Errorf("%+v, %v", run, err)
	}
	// The note of the latest run is missing, or names a missing run.
	for _, note := range []string{"", "gone\n"} {
		if err := os.WriteFile(filepath.Join(state, "latest"), []byte(note), 0o644); err != nil {
			t.Fatal(err)
		}
		if run, err := FindRun(Records{Dir: state}, "latest"); err != nil || run.ID != runs[2] {
			t.Errorf("note %q: %+v, %v", note, run, err)
		}
	}
}

func TestNewRunID(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 500_000_000, time.FixedZone("east", 3600))
	if got := NewRunID(at, 0xfab1); got != "20260304-040607-800ab1" {
		t.Errorf("got %s", got)
	}
	ids := []string{
		NewRunID(at, 0xfff),
		NewRunID(at.Add(250*time.Microsecond), 0), // later in the same second
		NewRunID(at.Add(500*time.Millisecond-1), 0xfff),
		NewRunID(at.Add(500*time.Millisecond), 0),
	}
	if !slices.IsSorted(ids) {
		t.Errorf("not in the order of time: %q", ids)
	}
}

// A run is later than all runs that were recorded before, whatever the clock showed then.
func TestNextRunID(t *testing.T) {
	state := t.TempDir()
	records := Records{Dir: state}
	now := time.Date(2026, 3, 4, 5, 6, 7, 500_000_000, time.UTC)
	if got, want := NextRunID(records, now, 0xabc), NewRunID(now, 0xabc); got != want {
		t.Errorf("without runs: %s, want %s", got, want)
	}
	ids := []string{NewRunID(now.Add(-time.Hour), 1), NewRunID(now, 0xfff), NewRunID(now.Add(72*time.Hour), 0xfff), "20300101-235959-fffabc"}
	for _, id := range ids {
		record(t, state, id)
	}
	record(t, state, "of another tool") // sorts after all
	for range 3 {
		id := NextRunID(records, now, 0)
		if last := ids[len(ids)-1]; id <= last {
			t.Fatalf("%s is not after %s", id, last)
		}
		record(t, state, id)
		ids = append(ids, id)
	}
	if got := ids[len(ids)-1]; got != "20300102-000000-002000" {
		t.Errorf("the third is %s", got)
	}
	if later := NextRunID(records, now.AddDate(10, 0, 0), 7); later != NewRunID(now.AddDate(10, 0, 0), 7) {
		t.Errorf("when the clock has caught up: %s", later)
	}
}

// The record of a run is followed while the run continues; half a line is not read.
func TestSince(t *testing.T) {
	state := t.TempDir()
	record(t, state, "run1", every[0].event, every[2].event)
	path := filepath.Join(state, "runs", "run1", EventsFile)
	run := OpenRun(Records{Dir: state}, "run1")
	var got []Event
	follow := func(place int64) int64 {
		t.Helper()
		place, err := run.Since(place, func(e Event) { got = append(got, e) })
		if err != nil {
			t.Fatal(err)
		}
		return place
	}
	place := follow(0)
	if len(got) != 2 {
		t.Fatalf("%d events", len(got))
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	half := len(every[6].line) / 2
	if _, err := file.WriteString(every[6].line[:half]); err != nil {
		t.Fatal(err)
	}
	if place = follow(place); len(got) != 2 {
		t.Errorf("half a line is an event")
	}
	if _, err := file.WriteString(every[6].line[half:] + "\nno event\n"); err != nil {
		t.Fatal(err)
	}
	if place = follow(place); len(got) != 3 || got[2].(NodeDone).Message != "m\nn" {
		t.Errorf("%v", got)
	}
	if again := follow(place); again != place || len(got) != 3 {
		t.Errorf("at %d, not %d", again, place)
	}
	// A line that is longer than what is read at a time, and one after it.
	long := strings.Repeat("x", mostFollowed*5/2)
	if _, err := file.WriteString(`{"type":"node.note","addr":"a","text":"` + long + `"}` + "\n" + every[6].line + "\n"); err != nil {
		t.Fatal(err)
	}
	follow(follow(place))
	if note, ok := got[3].(NodeNote); !ok || note.Text != long || len(got) != 5 {
		t.Errorf("%d events, the fourth is a %T", len(got), got[3])
	}
	if _, err := OpenRun(Records{Dir: state}, "absent").Since(0, func(Event) {}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
