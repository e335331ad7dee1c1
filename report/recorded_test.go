package report

import (
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// recordedCell returns a cell of a task with a checkpoint for each score; -1 means not reached, and -2 no verdict.
func recordedCell(r Recorded, scores ...float64) Cell {
	r.By = "other"
	cell := Cell{Problem: "p", Solution: "s", Backend: "local.host", Repeat: 1, Status: verdict.Success, Recorded: &r}
	for i, score := range scores {
		c := Checkpoint{Name: string(rune('a' + i)), Class: verdict.Judged, Score: &score, Policy: "none"}
		switch score {
		case -1:
			c.Class, c.Score = verdict.NotReached, nil
		case -2:
			c.Class, c.Score = verdict.NotJudged, nil
		}
		cell.Checkpoints = append(cell.Checkpoints, c)
	}
	return cell
}

func some(f float64) *float64 { return &f }

// Recorded results are shown next to current ones, with the reason of differences.
func TestRecordedNote(t *testing.T) {
	same := recordedCell(Recorded{Score: some(0.5), Valid: true, Comparable: true}, 1, 0)
	broken := recordedCell(Recorded{Score: some(1), Valid: true, Comparable: true}, 1, -2)
	other := recordedCell(Recorded{Score: some(1), Valid: true, Comparable: true}, 0.25)
	unscored := recordedCell(Recorded{Cause: "RewardFileNotFoundError", Comparable: true}, -2)
	now := recordedCell(Recorded{Cause: "VerifierTimeoutError", Comparable: true}, 1)
	short := recordedCell(Recorded{Score: some(1), Valid: true, Comparable: true}, 1, -1)
	last := recordedCell(Recorded{Score: some(0), Valid: true, Comparable: true, Last: true}, 1, 0)
	spoilt := recordedCell(Recorded{Score: some(1), Cause: "ApiError", Comparable: true}, 1)
	outdated := recordedCell(Recorded{Score: some(1), Valid: true, Comparable: true, Version: "a", VersionHere: "b"}, 0.5)
	foreign := recordedCell(Recorded{Score: some(1), Valid: true}, 85)
	solved := recordedCell(Recorded{Score: some(1), Valid: true, Comparable: true, Solved: true}, 0)
	solved.Checkpoints[0].Score, solved.Checkpoints[0].Policy, solved.Checkpoints[0].Passed = nil, "all-cases", true
	unsolved := solved
	unsolved.Problem, unsolved.Checkpoints = "q", []Checkpoint{solved.Checkpoints[0]}
	unsolved.Checkpoints[0].Passed = false
	if got := (row{cell: &unsolved, checkpoint: &unsolved.Checkpoints[0]}).recordedNote(); got != "recorded as passed" {
		t.Errorf("a row of a test is %q", got)
	}
	for name, try := range map[string]struct {
		cells []Cell
		want  string
	}{
		"nothing":  {[]Cell{{Problem: "p", Solution: "s", Status: verdict.Success}}, ""},
		"same":     {[]Cell{same, last}, "recorded by other: mean 0.25 of 2 cells\nhere: mean 0.25; every score is the recorded one"},
		"broken":   {[]Cell{same, broken}, "recorded by other: mean 0.75 of 2 cells\nhere: mean 0.25; 1 without a verdict here, as 0"},
		"other":    {[]Cell{other}, "recorded by other: mean 1 of 1 cell\nhere: mean 0.25; 1 with another score here"},
		"unscored": {[]Cell{unscored, same}, "recorded by other: mean 0.25 of 2 cells, 1 without a score as 0\nhere: mean 0.25; 1 without a verdict here, as 0"},
		"now":      {[]Cell{now}, "recorded by other: mean 0 of 1 cell, 1 without a score as 0\nhere: mean 1; 1 with another score here"},
		"short":    {[]Cell{short}, "recorded by other: mean 1 of 1 cell\nhere: mean 1; 1 with checkpoints that were not reached, which with these as 0 makes 0.5"},
		"spoilt":   {[]Cell{spoilt}, "recorded by other: mean 1 of 1 cell; 1 with a score that other itself does not count as valid\nhere: mean 1; every score is the recorded one"},
		"foreign":  {[]Cell{foreign}, "recorded by other: mean 1 of 1 cell; scores here are of another kind"},
		"outdated": {[]Cell{outdated, same}, "recorded by other: mean 0.75 of 2 cells; 1 of another version of the problem, so scores can differ\nhere: mean 0.5; 1 with another score here"},
		"solved":   {[]Cell{solved, unsolved}, "recorded by other: mean 1 of 2 cells\nhere: mean 0.5; 1 with another score here"},
		"mixed":    {[]Cell{foreign, same}, "recorded by other: mean 0.75 of 2 cells\nhere: mean 0.5 of 1 of these, recorded as 0.5; every score is the recorded one"},
	} {
		r := &Results{Schema: Schema, Cells: try.cells}
		tally := TallyOf(r, nil)
		if got := strings.TrimPrefix(tally.Recorded.note(), "\n"); got != try.want {
			t.Errorf("%s: got\n%s", name, got)
		}
		var merged Tally
		for i := range try.cells {
			one := TallyOf(&Results{Cells: try.cells[i : i+1]}, nil)
			merged.Merge(&one)
		}
		if merged != tally {
			t.Errorf("%s: merged %+v, not %+v", name, merged, tally)
		}
		var table strings.Builder
		if err := Write(&table, "table", r, Options{}); err != nil || !strings.Contains(table.String(), try.want) {
			t.Errorf("%s: %v\n%s", name, err, &table)
		}
	}
}

// A row shows the recorded score where it differs from the score here.
func TestRecordedRemark(t *testing.T) {
	r := Recorded{Comparable: true, Checkpoints: []RecordedCheckpoint{
		{Name: "a", Reached: true, Score: some(0.5)}, {Name: "b", Reached: true, Score: some(1)}, {Name: "c", Reached: true, Score: some(0)},
		{Name: "d", Reached: true, Cause: "VerifierTimeoutError"}, {Name: "e", Reached: true}, {Name: "f"},
	}}
	cell := recordedCell(r, 0.5, 0.25, -2, 1, -2, 1)
	want := []string{"", "recorded as 1", "recorded as 0", "recorded without a score VerifierTimeoutError", "", ""}
	for i, row := range rowsOf(&Results{Cells: []Cell{cell}}) {
		if got := row.recordedNote(); got != want[i] {
			t.Errorf("%s: %q, not %q", row.checkpoint.Name, got, want[i])
		}
	}
	cell.Recorded.Version, cell.Recorded.VersionHere = "a", "b"
	for i, with := range map[int]string{0: "", 1: "recorded as 1 with another version of the problem"} {
		if got := (row{cell: &cell, checkpoint: &cell.Checkpoints[i]}).recordedNote(); got != with {
			t.Errorf("with another version: %q", got)
		}
	}
	cell.Recorded.VersionHere = ""
	broken := "no disk"
	if got := note(row{cell: &cell, checkpoint: &Checkpoint{Name: "b", Class: verdict.NotJudged, Message: &broken}}); got != "recorded as 1; no disk" {
		t.Errorf("%q", got)
	}
	cell.Recorded.Comparable = false
	if got := (row{cell: &cell, checkpoint: &cell.Checkpoints[1]}).recordedNote(); got != "" {
		t.Errorf("%q", got)
	}
}
