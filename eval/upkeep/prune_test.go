package upkeep

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// projectIn returns the options of a project with a state directory, and of a user with a key.
func projectIn(t *testing.T, state string) *options.Options {
	home := t.TempDir()
	o := &options.Options{LookupEnv: func(name string) (string, bool) {
		value, ok := map[string]string{"FEVALGRAPH_DIR": state, "XDG_STATE_HOME": home}[name]
		return value, ok
	}}
	if _, err := o.UserKey(true); err != nil {
		t.Fatal(err)
	}
	return o
}

// recordRun records a run of cells of one checkpoint that began at a time.
func recordRun(t *testing.T, records event.Records, id string, began time.Time, class verdict.Class, problems ...string) {
	t.Helper()
	r, err := event.NewRecorder(records, id)
	if err != nil {
		t.Fatal(err)
	}
	r.Emit(event.RunStart{Type: "run.start", Schema: event.Schema, Run: id, Time: began})
	var files []string
	for _, problem := range problems {
		cells := []report.Cell{{Problem: problem, Solution: "s", Backend: "local.host", Checkpoints: []report.Checkpoint{{Name: "one", Class: class}}}}
		name, err := partition.StoreIn(records.Dir).Put(nil, nil, cells)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, name.String())
	}
	if err := r.SaveManifest(files, nil); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPruneKeepsWhatAnswersNeed(t *testing.T) {
	now := time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		request         PruneRequest
		removed, needed []string
	}{
		"the last three":       {PruneRequest{Keep: 3}, []string{"run2", "run1"}, nil},
		"the last one":         {PruneRequest{Keep: 1}, []string{"run3", "run1"}, []string{"run4", "run2"}},
		"young ones":           {PruneRequest{OlderThan: 3*24*time.Hour + time.Hour}, []string{"run1"}, []string{"run2"}},
		"both":                 {PruneRequest{Keep: 4, OlderThan: time.Hour}, []string{"run1"}, nil},
		"all younger":          {PruneRequest{OlderThan: 1000 * time.Hour}, nil, nil},
		"without removing any": {PruneRequest{Keep: 1, DryRun: true}, []string{"run3", "run1"}, []string{"run4", "run2"}},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			if err := os.MkdirAll(partition.StoreIn(state).Dir, 0o755); err != nil {
				t.Fatal(err)
			}
			day := func(n int) time.Time { return now.Add(time.Duration(n-6) * 24 * time.Hour) }
			o := projectIn(t, state)
			records := o.Records()
			recordRun(t, records, "run1", day(1), verdict.Judged, "a", "b")
			recordRun(t, records, "run2", day(2), verdict.Judged, "b", "c")
			recordRun(t, records, "run3", day(3), verdict.Judged, "a")
			recordRun(t, records, "run4", day(4), verdict.Judged, "a", "b")
			recordRun(t, records, "run5", day(5), verdict.NotRun, "a", "b")
			if name == "the last three" { // without c
				recordRun(t, records, "run5", day(5), verdict.Judged, "a", "b", "c")
			}
			p, err := prune(t.Context(), o, c.request, now)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(p.Removed, c.removed) || !slices.Equal(p.Needed, c.needed) || p.Runs != 5 {
				t.Errorf("removed %v, needed %v of %d; want %v, %v of 5", p.Removed, p.Needed, p.Runs, c.removed, c.needed)
			}
			if (p.Bytes > 0) != (len(c.removed) > 0) {
				t.Errorf("%d bytes", p.Bytes)
			}
			left, err := event.Runs(records)
			if want := 5 - len(c.removed); err != nil || !c.request.DryRun && len(left) != want || c.request.DryRun && len(left) != 5 {
				t.Errorf("%v are left, %v", left, err)
			}
		})
	}
}

// A run in progress can have nothing to show yet.
func TestPruneLeavesRunsThatGoOn(t *testing.T) {
	state := t.TempDir()
	for _, id := range []string{"run1", "run2", "run3"} {
		if err := os.MkdirAll(filepath.Join(state, "runs", id), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r, err := backend.OpenRegistry(kind.SessionsDir(state), "run1")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := prune(t.Context(), projectIn(t, state), PruneRequest{Keep: 1}, time.Now())
	if err != nil || !slices.Equal(p.Removed, []string{"run2"}) || !slices.Equal(p.Needed, []string{"run1"}) {
		t.Errorf("%+v, %v", p, err)
	}
}

// Calls of gen are pruned apart from runs; a call without an end can be in progress.
func TestPruneCalls(t *testing.T) {
	answers, now := event.Records{Dir: t.TempDir()}, time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC)
	for i, ended := range []bool{false, true, false, true, true} {
		id := fmt.Sprintf("call%d", i+1)
		r, err := event.NewRecorder(answers, id)
		if err != nil {
			t.Fatal(err)
		}
		began := now.Add(time.Duration(i-4) * 48 * time.Hour)
		r.Emit(event.RunStart{Type: "run.start", Schema: event.Schema, Run: id, Time: began})
		if ended {
			r.Emit(event.RunEnd{Type: "run.end", Run: id})
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	p := &Pruned{}
	if err := pruneCalls(t.Context(), answers, PruneRequest{Keep: 1}, now, p); err != nil {
		t.Fatal(err)
	}
	left, err := event.Runs(answers)
	if err != nil || !slices.Equal(left, []string{"call3", "call5"}) || !slices.Equal(p.Removed, []string{"call4", "call2", "call1"}) || p.Runs != 5 || p.Bytes == 0 {
		t.Errorf("%v are left of %+v, %v", left, p, err)
	}
}
