package report

import (
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Summary counts the checkpoints of results. Each is counted in exactly one of Passed, Scored, Failed,
// NotReached, Errored, Broken and Skipped. A cell without checkpoints counts as one, by its status.
type Summary struct {
	Cells       int `json:"cells"`
	Checkpoints int `json:"checkpoints"`
	Judged      int `json:"judged"` // Passed + Scored + Failed
	Passed      int `json:"passed"`
	Vacuous     int `json:"vacuous"`              // part of Passed: no test matched the policy
	Scored      int `json:"scored"`               // judged, without a pass rule
	Failed      int `json:"failed"`               // judged, and did not meet its pass rule
	NotJudged   int `json:"not_judged"`           // NotReached + Errored + Broken + Skipped
	NotReached  int `json:"not_reached"`          // no files for this checkpoint
	Errored     int `json:"errored"`              // not judged because of the submission
	Broken      int `json:"broken"`               // not judged because of the infrastructure, or of a task
	Blocked     int `json:"blocked,omitempty"`    // part of Broken: a task that the checkpoint needs failed
	Skipped     int `json:"skipped"`              // nothing to judge, or no verdict that holds now
	New         int `json:"new,omitempty"`        // part of Skipped: never judged
	Stale       int `json:"stale,omitempty"`      // part of Skipped: the last verdict is out of date, or may be
	InProcess   int `json:"in_process,omitempty"` // part of Judged: by a grader that runs the submission in its process
	// Tasks are not included in the counts above.
	Tasks TaskCounts `json:"tasks,omitzero"`
	// Exit is the exit code for these results: 3 if a checkpoint broke, or was skipped because the machine
	// lacks something, else 1 if one failed or errored, else 0. If checkpoints were selected and all of them
	// were skipped, it is 1: nothing was shown to pass.
	Exit int `json:"exit"`
}

// Summarize counts r. A checkpoint passes by p, or by its own Passed if p is nil; an unjudged one never passes.
func Summarize(r *Results, p *verdict.Policy) Summary {
	t := TallyOf(r, p)
	return t.Summary()
}

// TallyOf counts r in the same way as Summarize.
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

// Tally holds the counts of a summary for cells, without pointers, so that files can store it.
type Tally struct {
	Counts Summary // without fields that follow from others
	// Tally accumulates the counts of a summary over cells. Partitions store it.
	BrokenCells, FailedCells int
	Recorded                 Comparison
}

// Add counts a cell in the same way as Summarize.
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

// Merge adds the counts of o, which must have the same policy.
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
	c.Blocked += more.Blocked
	c.Skipped += more.Skipped
	c.New += more.New
	c.Stale += more.Stale
	c.InProcess += more.InProcess
	c.Tasks.merge(&more.Tasks)
}

// Summary returns the summary of all counted cells.
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

func (s *Summary) count(last *Checkpoint, p *verdict.Policy) {
	now := last.Current()
	c := &now
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
		switch {
		case c.neverJudged():
			s.New++
		case c.State != "" && outcomeOf(last) != verdict.OutcomeSkipped:
			s.Stale++
		}
	case verdict.OutcomeNotReached:
		s.NotReached++
	case verdict.OutcomeErrored:
		s.Errored++
	case verdict.OutcomeBroken:
		s.Broken++
		if c.Class == verdict.Blocked {
			s.Blocked++
		}
	}
}

// String returns a line such as "4 cells, 12 checkpoints: 9 passed, 2 failed, 1 broken". It omits counts of
// zero other than passed, and passed too if everything judged has a score without a pass rule. It tells how
// many passed vacuously, and how many could change their own score.
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
	}{{s.Scored, "scored"}, {s.Failed, "failed"}, {s.NotReached, "not reached"}, {s.Errored, "errored"}, {s.Broken - s.Blocked, "broken"}, {s.Blocked, "blocked"},
		{s.New, "new"}, {s.Stale, "out of date"}, {s.Skipped - s.New - s.Stale, "skipped"}} {
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
