package history

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// record writes a run with a number of partitions of a hundred cells each; those below changed differ between runs.
func record(t testing.TB, state event.Records, number, partitions, changed int) string {
	t.Helper()
	run := event.NewRunID(time.Date(2026, 1, 2, 3, 4, number, 0, time.UTC), uint16(number))
	if err := os.MkdirAll(partition.StoreIn(state.Dir).Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	rec, err := event.NewRecorder(state, run)
	if err != nil {
		t.Fatal(err)
	}
	rec.Emit(event.RunStart{Type: "run.start", Schema: event.Schema, Run: run})
	var names []string
	for p := range partitions {
		version := 0
		if p < changed {
			version = number
		}
		cells, facts := makeCells(p, version), &partition.Facts{Run: fmt.Sprint(version)}
		for i := range cells {
			facts.Summary = append(facts.Summary, report.RowOf(&cells[i]))
		}
		name, err := partition.StoreIn(state.Dir).Put(facts, nil, cells)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name.String())
	}
	rec.Emit(event.RunEnd{Type: "run.end", Run: run})
	if err := errors.Join(rec.SaveManifest(names, nil), rec.Close()); err != nil {
		t.Fatal(err)
	}
	return run
}

// makeCells returns a hundred cells; one in fifty depends on the version, and so does how long all of them took.
func makeCells(problem, version int) []report.Cell {
	cells := make([]report.Cell, 100)
	for i := range cells {
		passed := i%50 != 7 || version%2 == 0
		status := verdict.TestPassed
		if !passed {
			status = verdict.TestFailed
		}
		c := report.Checkpoint{Name: "checkpoint_1", Passed: passed, Policy: "core-cases", Class: verdict.Judged, Collected: 3, DurationMS: 12.25 + float64(version), Groups: verdict.GroupCounts{"core": {Passed: 1, Total: 1}}}
		for j := range 3 {
			c.Tests = append(c.Tests, report.Test{Test: verdict.Test{ID: fmt.Sprintf("test_%d", j), File: "tests/test_checkpoint_1.py", Checkpoint: "checkpoint_1", Group: "core", Status: status}, DurationMS: 1 + float64(version)/8})
		}
		cells[i] = report.Cell{Problem: fmt.Sprintf("p%04d", problem), Solution: fmt.Sprintf("s%03d", i), Backend: "local.host", Repeat: 1, Status: verdict.Success, Checkpoints: []report.Checkpoint{c}}
	}
	return cells
}

// BenchmarkOpenPair reads and compares two runs of 100,000 cells. All partitions differ, or one in a hundred.
func BenchmarkOpenPair(b *testing.B) {
	const partitions = 1000
	for _, changed := range []int{partitions / 100, partitions} {
		b.Run(fmt.Sprintf("%d of %d partitions differ", changed, partitions), func(b *testing.B) {
			state := event.Records{Dir: b.TempDir()}
			first, second := record(b, state, 1, partitions, changed), record(b, state, 2, partitions, changed)
			for b.Loop() {
				before, after, _, err := OpenPair(state, first, second)
				if err != nil {
					b.Fatal(err)
				}
				if d := report.Differ(before.Results, after.Results); d.Count(report.ChangeWon) != changed*2 {
					b.Fatalf("%s", d.Summary())
				}
			}
		})
	}
}

// TestOpenPairOfOtherPartitions: if one side has more partitions, all differing ones are read.
func TestOpenPairOfOtherPartitions(t *testing.T) {
	state := event.Records{Dir: t.TempDir()}
	first, second := record(t, state, 1, 3, 2), record(t, state, 2, 4, 2)
	before, after, shared, err := OpenPair(state, first, second)
	if err != nil || len(before.Results.Cells) != 200 || len(after.Results.Cells) != 300 || shared != 100 {
		t.Errorf("%d and %d cells, %d are shared, %v", len(before.Results.Cells), len(after.Results.Cells), shared, err)
	}
}

func TestOpenPair(t *testing.T) {
	state := event.Records{Dir: t.TempDir()}
	first, second := record(t, state, 1, 3, 1), record(t, state, 2, 3, 1)
	before, after, shared, err := OpenPair(state, first, second)
	if err != nil {
		t.Fatal(err)
	}
	// The partitions that both have are not read, nor the cells that differ only by how long they took.
	if len(before.Results.Cells) != 2 || len(after.Results.Cells) != 2 || shared != 298 {
		t.Errorf("%d and %d cells, %d are shared", len(before.Results.Cells), len(after.Results.Cells), shared)
	}
	if d := report.Differ(before.Results, after.Results); d.Count(report.ChangeWon) != 2 {
		t.Errorf("%s", d.Summary())
	}
	if before, after, _, err = OpenPair(state, first, first); err != nil || len(report.Differ(before.Results, after.Results).Changes) != 0 || len(after.Results.Cells) != 300 {
		t.Errorf("a run differs from itself, or is %d cells, %v", len(after.Results.Cells), err)
	}
}
