package report

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Summary counts the checkpoints of some results. Each is in exactly one of
// Passed, Scored, Failed, NotReached, Errored, Broken and Skipped. A cell that has none to show
// counts as one, by its status.
type Summary struct {
	Cells       int `json:"cells"`
	Checkpoints int `json:"checkpoints"`
	Judged      int `json:"judged"` // Passed + Scored + Failed
	Passed      int `json:"passed"`
	Vacuous     int `json:"vacuous"`              // of Passed: with no test that the policy looks at
	Scored      int `json:"scored"`               // judged, without a rule to pass by
	Failed      int `json:"failed"`               // judged, and its policy says no
	NotJudged   int `json:"not_judged"`           // NotReached + Errored + Broken + Skipped
	NotReached  int `json:"not_reached"`          // the submission has no source for it
	Errored     int `json:"errored"`              // the submission kept it from being judged
	Broken      int `json:"broken"`               // infrastructure did
	Skipped     int `json:"skipped"`              // there was nothing to judge
	InProcess   int `json:"in_process,omitempty"` // of Judged: by a grader that runs the submission in its own process
	// Tasks are in none of the counts above.
	Tasks TaskCounts `json:"tasks,omitzero"`
	// Exit is the exit code that the results alone ask for: 3 when something
	// broke, or was skipped because the machine lacks what it needs, else 1 when something failed or errored, else 0. Results in
	// which checkpoints were asked for and every one was skipped are 1:
	// nothing was shown to pass.
	Exit int `json:"exit"`
}

// Summarize counts r. A checkpoint passes by p, or by its own Passed when p
// is nil; one that was not judged passes by neither.
func Summarize(r *Results, p *verdict.Policy) Summary {
	t := TallyOf(r, p)
	return t.Summary()
}

// TallyOf counts r, as Summarize does.
func TallyOf(r *Results, p *verdict.Policy) Tally {
	t := tallyCells(r, p)
	t.AddTasks(r.Tasks)
	return t
}

func tallyCells(r *Results, p *verdict.Policy) Tally {
	var t Tally
	for i := range r.Cells {
		t.Add(&r.Cells[i], p)
	}
	return t
}

// AddTasks counts tasks.
func (t *Tally) AddTasks(tasks []Task) {
	for i := range tasks {
		t.Counts.Tasks.add(&tasks[i])
	}
}

// Tally is what cells add to a summary. It is a plain value, that can be kept in a
// file.
type Tally struct {
	Counts Summary // but for what follows from the others
	// BrokenCells broke, or lack what the machine does not have; FailedCells ended
	// early by themselves.
	BrokenCells, FailedCells int
	Recorded                 Comparison
}

// Add counts a cell, as Summarize does.
func (t *Tally) Add(cell *Cell, p *verdict.Policy) {
	t.Counts.Cells++
	t.Recorded.add(cell)
	if cell.Status == verdict.Error || cell.Status == verdict.TimedOut {
		t.FailedCells++
	}
	broken := cell.Status == verdict.Broken
	for _, c := range cell.Listed() {
		broken = broken || c.InfrastructureFailure && outcomeOf(&c) == verdict.OutcomeSkipped
		t.Counts.count(&c, p)
	}
	if broken {
		t.BrokenCells++
	}
}

// Merge counts the cells that o has counted, under the same policy.
func (t *Tally) Merge(o *Tally) {
	t.BrokenCells += o.BrokenCells
	t.FailedCells += o.FailedCells
	t.Recorded.Merge(&o.Recorded)
	c, more := &t.Counts, &o.Counts
	c.Cells += more.Cells
	c.Checkpoints += more.Checkpoints
	c.Passed += more.Passed
	c.Vacuous += more.Vacuous
	c.Scored += more.Scored
	c.Failed += more.Failed
	c.NotReached += more.NotReached
	c.Errored += more.Errored
	c.Broken += more.Broken
	c.Skipped += more.Skipped
	c.InProcess += more.InProcess
	c.Tasks.merge(&more.Tasks)
}

// Summary is the summary of all cells that were counted.
func (t *Tally) Summary() Summary {
	s := t.Counts
	s.Judged = s.Passed + s.Scored + s.Failed
	s.NotJudged = s.NotReached + s.Errored + s.Broken + s.Skipped
	switch {
	case t.BrokenCells > 0 || s.Broken > 0 || s.Tasks.Broken > 0:
		s.Exit = 3
	case t.FailedCells > 0 || s.Tasks.Failed > 0 || s.Failed+s.NotReached+s.Errored > 0 || s.Checkpoints > 0 && s.Passed+s.Scored == 0:
		s.Exit = 1
	}
	return s
}

func (s *Summary) count(c *Checkpoint, p *verdict.Policy) {
	s.Checkpoints++
	passed, vacuous := c.Passed, c.Vacuous
	if p != nil {
		passed, vacuous = p.Holds(c.Class, c.Groups), p.Vacuous(c.Class, c.Groups)
	}
	switch outcomeOf(c) {
	case verdict.OutcomePassed, verdict.OutcomeScored, verdict.OutcomeFailed:
		if c.Import == verdict.ImportInProcess {
			s.InProcess++
		}
		if p == nil && !c.Ruled() {
			s.Scored++
		} else if passed {
			s.Passed++
			if vacuous {
				s.Vacuous++
			}
		} else {
			s.Failed++
		}
	case verdict.OutcomeSkipped:
		s.Skipped++
	case verdict.OutcomeNotReached:
		s.NotReached++
	case verdict.OutcomeErrored:
		s.Errored++
	case verdict.OutcomeBroken:
		s.Broken++
	}
}

// String is "4 cells, 12 checkpoints: 9 passed, 2 failed, 1 broken". Counts
// of zero other than passed are left out, that of passed where everything judged has
// a score and no rule; of those that passed, it says how many did so vacuously, and of those
// that were judged, how many could change their own score.
func (s Summary) String() string {
	var parts []string
	if s.Passed > 0 || s.Scored == 0 || s.Failed > 0 {
		passed := fmt.Sprintf("%d passed", s.Passed)
		if s.Vacuous > 0 {
			passed += fmt.Sprintf(" (%d vacuously)", s.Vacuous)
		}
		parts = append(parts, passed)
	}
	for _, part := range []struct {
		n    int
		word string
	}{{s.Scored, "scored"}, {s.Failed, "failed"}, {s.NotReached, "not reached"}, {s.Errored, "errored"}, {s.Broken, "broken"}, {s.Skipped, "skipped"}} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.n, part.word))
		}
	}
	if s.InProcess > 0 {
		parts = append(parts, fmt.Sprintf("%d judged in-process, not protected", s.InProcess))
	}
	if s.Tasks.Tasks > 0 && s.Cells == 0 {
		return s.Tasks.String()
	}
	cells := fmt.Sprintf("%s, %s: %s", text.Count(s.Cells, "cell"), text.Count(s.Checkpoints, "checkpoint"), strings.Join(parts, ", "))
	if s.Tasks.Tasks > 0 {
		cells += "; " + s.Tasks.String()
	}
	return cells
}
