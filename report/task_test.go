package report

import (
	"fmt"
	"testing"
)

// tasks returns the results of a pipeline that fails.
func tasks() *Results {
	return &Results{Schema: Schema, Run: "20260102-030405-abcd", Cells: []Cell{}, Tasks: []Task{
		{Name: "data", Outcome: TaskDone, Cause: "never ran", Seconds: 1.5, Products: []Product{{Name: "data", Path: "data.csv", Digest: "00/1"}}},
		{Name: "lost", Outcome: "broken", Message: "image not found"},
		{Name: "old", Outcome: TaskDone, Run: "20260101-030405-abcd", State: "stale", Cause: "gen.py changed", Products: []Product{{Name: "plot", Path: "p", Publish: "build/p.svg"}}},
		{Name: `plot["<a>|b"]`, Outcome: "blocked", Message: "blocked by task:train"},
		{Name: "train", Outcome: "failed", Message: "exit code 3: boom\nsecond line", Seconds: 0.25},
	}}
}

func TestTasksGolden(t *testing.T) {
	for _, format := range Formats() {
		golden(t, "tasks."+format, render(t, format, tasks(), Options{}))
	}
	both := mixed()
	both.Tasks = tasks().Tasks[:1]
	golden(t, "tasks.mixed.table", render(t, "table", both, Options{}))
}

// Tasks count, next to any cells.
func TestTasksExit(t *testing.T) {
	for outcome, want := range map[string]int{TaskDone: 0, "failed": 1, "broken": 3, "blocked": 0, "skipped": 0} {
		r := &Results{Tasks: []Task{{Name: "a", Outcome: TaskDone}, {Name: "b", Outcome: outcome}}}
		if got := Summarize(r, nil); got.Exit != want || got.Tasks.Tasks != 2 {
			t.Errorf("%s: exit %d of %v, want %d", outcome, got.Exit, got, want)
		}
	}
	many := &Results{}
	for i := range 2 * manyRows {
		many.Tasks = append(many.Tasks, Task{Name: fmt.Sprint(i), Outcome: TaskDone})
	}
	many.Tasks[7].Outcome = "failed"
	if got := render(t, "table", many, Options{}); len(got) > 200 {
		t.Errorf("the table has more than what failed:\n%s", got)
	}
}
