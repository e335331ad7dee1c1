package history

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Nodes that an interrupted run did not begin hide no earlier result, and an older result never replaces a newer one.
func TestFindLast(t *testing.T) {
	state := event.Records{Dir: t.TempDir()}
	if err := os.MkdirAll(partition.StoreIn(state.Dir).Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	record := func(id string, interrupted int, task report.Task, classes ...verdict.Class) {
		c := report.Cell{Problem: "p", Solution: "s", Backend: "local.host", Repeat: 1, Checkpoints: []report.Checkpoint{}}
		for i, class := range classes {
			c.Checkpoints = append(c.Checkpoints, report.Checkpoint{Name: string(rune('a' + i)), Class: class})
		}
		name, err := partition.StoreIn(state.Dir).Put(nil, nil, []report.Cell{c})
		if err != nil {
			t.Fatal(err)
		}
		r, err := event.NewRecorder(state, id)
		if err != nil {
			t.Fatal(err)
		}
		r.Emit(event.RunStart{Type: "run.start", Schema: event.Schema, Run: id})
		r.Emit(event.RunEnd{Type: "run.end", Run: id, Interrupted: interrupted})
		tasks, err := json.Marshal([]report.Task{task})
		if err == nil {
			err = r.SaveManifest([]string{name.String()}, tasks)
		}
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	record("1", 0, report.Task{Name: "one", Outcome: report.TaskDone}, verdict.Judged, verdict.Judged, verdict.Judged)
	record("2", 0, report.Task{Name: "two", Outcome: report.TaskDone}, verdict.NotRun, verdict.Judged, verdict.NotRun)
	record("3", 1, report.Task{Name: "two", Outcome: string(event.Interrupted)}, verdict.NotRun, verdict.SessionTimeout)
	record("4", 0, report.Task{Name: "three", Outcome: report.TaskDone}) // damaged below
	if err := os.WriteFile(state.Dir+"/runs/4/"+event.ManifestFile, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	last := FindLast(state, []string{"4", "3", "2", "1", "0"}, nil, nil)
	id := plan.CellID{Problem: "p", Solution: "s", Backend: "local.host", Repeat: 1}
	for name, want := range map[string]LastCheckpoint{
		"a": {report.Checkpoint{Class: verdict.NotRun}, "2"}, // there was nothing to judge
		"b": {report.Checkpoint{Class: verdict.SessionTimeout}, "3"},
		"c": {report.Checkpoint{Class: verdict.NotRun}, "2"},
	} {
		if got := last.Checkpoints[id.At(name)]; got.Run != want.Run || got.Class != want.Class {
			t.Errorf("%s: %s of run %s, want %s of %s", name, got.Class, got.Run, want.Class, want.Run)
		}
	}
	if one, two := last.Tasks["one"], last.Tasks["two"]; one.Run != "1" || two.Run != "2" || len(last.Tasks) != 2 {
		t.Errorf("tasks are %+v", last.Tasks)
	}
	if runs := slices.Sorted(maps.Keys(last.Runs)); !slices.Equal(runs, []string{"1", "2", "3", "4"}) || last.Damaged == nil {
		t.Errorf("the results are of %v; damaged is %v", runs, last.Damaged)
	}
	if runs := FindLast(state, []string{"2", "1", "0"}, nil, nil).Runs; !runs["2"] || !runs["1"] || runs["0"] {
		t.Errorf("without the others they are of %v", runs)
	}
}
