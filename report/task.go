package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/maruel/natural"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Task is the result of a task.
type Task struct {
	Name     string    `json:"name"`              // of task.NAME, such as part["a"]
	Outcome  string    `json:"outcome"`           // TaskDone, or another state of event.NodeDone except cached
	Message  string    `json:"message,omitempty"` // why it is not done
	Cause    string    `json:"cause,omitempty"`   // why it was stale; "" if it was up to date
	Seconds  float64   `json:"seconds"`           // duration of its work
	Products []Product `json:"products,omitempty"`
	Run      string    `json:"run,omitempty"`   // for last known results, as in Checkpoint
	State    string    `json:"state,omitempty"` // for last known results, as in Checkpoint
}

// Product names a stored output of a task.
type Product struct {
	Name    string `json:"name"`
	Path    string `json:"path"`              // in the workspace
	Publish string `json:"publish,omitempty"` // path in the project
	Digest  string `json:"digest"`
}

// TaskDone is the Outcome of a task whose outputs are stored.
const TaskDone = "done"

// Address returns the address of the task's node.
func (t *Task) Address() string { return "task:" + t.Name }

// Verdict returns the outcome of a checkpoint that needs as much attention as the task.
func (t *Task) Verdict() verdict.Outcome {
	switch t.Outcome {
	case TaskDone:
		return verdict.OutcomePassed
	case "failed":
		return verdict.OutcomeFailed
	case "broken", "blocked":
		return verdict.OutcomeBroken
	}
	return verdict.OutcomeSkipped
}

// checkpoint returns a checkpoint with the verdict of the task. Only outputs can be out of date.
func (t *Task) checkpoint() *Checkpoint {
	c := &Checkpoint{Passed: t.Outcome == TaskDone, Class: verdict.Judged, Message: present(t.Message)}
	if c.Passed {
		c.State = t.State
	}
	switch t.Verdict() {
	case verdict.OutcomeBroken:
		if c.Class = verdict.NotJudged; t.Outcome == string(verdict.Blocked) {
			c.Class = verdict.Blocked
		}
	case verdict.OutcomeSkipped:
		c.Class = verdict.NotRun
	}
	return c
}

// otherOutputs returns the names of outputs whose content differs between two results of the task, which can be nil.
func (t *Task) otherOutputs(was *Task) (names []string) {
	if t == nil || was == nil {
		return nil
	}
	for _, p := range t.Products {
		if slices.ContainsFunc(was.Products, func(q Product) bool { return q.Name == p.Name && q.Digest != p.Digest }) {
			names = append(names, p.Name)
		}
	}
	return names
}

// note returns one line about why the task is not done or why its outputs are out of date.
func (t *Task) note() string {
	if t.Outcome == TaskDone && t.State != "" {
		return text.FirstLine(t.Cause)
	}
	return text.FirstLine(t.Message)
}

// products returns the names of the outputs, or the paths that they are published to.
func (t *Task) products() string {
	var names []string
	for _, p := range t.Products {
		names = append(names, cmp.Or(p.Publish, p.Name))
	}
	return strings.Join(names, ", ")
}

// TaskCounts counts tasks by their outcomes.
type TaskCounts struct {
	Tasks   int `json:"tasks"`
	Done    int `json:"done"`
	Failed  int `json:"failed"`
	Broken  int `json:"broken"`
	Blocked int `json:"blocked"`
	Skipped int `json:"skipped"` // or interrupted
}

func (c *TaskCounts) add(t *Task) {
	c.Tasks++
	switch t.Outcome {
	case TaskDone:
		c.Done++
	case "failed":
		c.Failed++
	case "broken":
		c.Broken++
	case "blocked":
		c.Blocked++
	default:
		c.Skipped++
	}
}

func (c *TaskCounts) merge(more *TaskCounts) {
	c.Tasks += more.Tasks
	c.Done += more.Done
	c.Failed += more.Failed
	c.Broken += more.Broken
	c.Blocked += more.Blocked
	c.Skipped += more.Skipped
}

// String returns a line such as "4 tasks: 2 done, 1 failed, 1 blocked".
func (c TaskCounts) String() string {
	parts := []string{fmt.Sprintf("%d done", c.Done)}
	for _, part := range []struct {
		n    int
		word string
	}{{c.Failed, "failed"}, {c.Broken, "broken"}, {c.Blocked, "blocked"}, {c.Skipped, "skipped"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	return text.Count(c.Tasks, "task") + ": " + strings.Join(parts, ", ")
}

// undone returns the tasks of r that are not done.
func (r *Results) undone() []Task {
	return slices.DeleteFunc(slices.Clone(r.Tasks), func(t Task) bool { return t.Outcome == TaskDone })
}

// TasksInOrder sorts tasks by name in natural order.
func TasksInOrder(tasks []Task) {
	slices.SortFunc(tasks, func(a, b Task) int { return natural.Compare(a.Name, b.Name) })
}

// taskGrid makes a row for each task or, if there are many and all is not set, for each that is not done.
func (r *Results) taskGrid(all bool, safe func(string, int) string, mark func(verdict.Outcome, string) string) text.Grid {
	grid := text.Grid{Header: []string{"task", "state", "holds", "run", "time", "products", "note"}, Right: []int{4}}
	shown, counts := r.Tasks, TaskCounts{}
	for i := range r.Tasks {
		counts.add(&r.Tasks[i])
	}
	if len(shown) > manyRows && !all {
		shown = r.undone()
	}
	reasons, stale := map[string]bool{}, slices.ContainsFunc(shown, func(t Task) bool { return t.State != "" })
	for i := range shown {
		t := &shown[i]
		note, holds, time := t.note(), "", "-"
		if stale {
			holds = orName(t.State, "yes")
		}
		if t.Verdict() == verdict.OutcomeBroken && note != "" {
			if reasons[note] {
				note = t.Outcome + " for the same reason as above"
			}
			reasons[t.note()] = true
		}
		if t.Seconds > 0 {
			time = text.Duration(t.Seconds)
		}
		grid.Rows = append(grid.Rows, []string{safe(t.Name, nameColumns), mark(t.Verdict(), t.Outcome), holds, safe(t.Run, 0), time, safe(t.products(), nameColumns), safe(note, noteColumns)})
	}
	grid.Footer = counts.String()
	return spareColumns(grid)
}
