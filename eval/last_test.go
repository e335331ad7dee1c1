package eval

import (
	"testing"

	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Nodes that an interrupted run did not begin hide no earlier verdict, and an older verdict never replaces a newer one.
func TestLastResultIsTheNewestVerdict(t *testing.T) {
	cell := func(classes ...verdict.Class) []report.Cell {
		c := report.Cell{Problem: "p", Solution: "s", Backend: "local.host", Repeat: 1}
		for i, class := range classes {
			c.Checkpoints = append(c.Checkpoints, report.Checkpoint{Name: string(rune('a' + i)), Class: class})
		}
		return []report.Cell{c}
	}
	last := map[plan.CellID]lastResult{}
	addLast(last, cell(verdict.NotRun, verdict.SessionTimeout), "third", true)
	addLast(last, cell(verdict.NotRun, verdict.Judged, verdict.NotRun), "second", false)
	addLast(last, cell(verdict.Judged, verdict.Judged, verdict.Judged), "first", false)
	id := plan.CellID{Problem: "p", Solution: "s", Backend: "local.host", Repeat: 1}
	for name, want := range map[string]lastResult{
		"a": {run: "second", Checkpoint: report.Checkpoint{Class: verdict.NotRun}}, // there was nothing to judge
		"b": {run: "third", Checkpoint: report.Checkpoint{Class: verdict.SessionTimeout}},
		"c": {run: "second", Checkpoint: report.Checkpoint{Class: verdict.NotRun}},
	} {
		if got := last[id.At(name)]; got.run != want.run || got.Class != want.Class {
			t.Errorf("%s: %s of run %s, want %s of %s", name, got.Class, got.run, want.Class, want.run)
		}
	}
}
