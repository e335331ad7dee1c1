package report

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// StateNew marks a checkpoint that was never judged. Its class is verdict.NotRun.
const StateNew = "new"

// neverJudged reports whether c is a checkpoint of the configuration that no run has judged.
func (c *Checkpoint) neverJudged() bool { return c.State == StateNew && c.Class == verdict.NotRun }

// judgedIn returns the run that judged c, by default the given one, or "" if none did.
func (c *Checkpoint) judgedIn(run string) string {
	if c.neverJudged() {
		return ""
	}
	return orName(c.Run, run)
}

// Current returns c with the verdict that holds now. It decides what every count, and every format without a word
// for the state of a verdict, shows: a verdict that is out of date, or may be, becomes verdict.NotRun with the reason
// as message.
func (c *Checkpoint) Current() Checkpoint {
	if outcome := outcomeOf(c); c.State == "" || outcome == verdict.OutcomeBroken || outcome == verdict.OutcomeSkipped || c.Class == verdict.InputError {
		return *c // none of the last three is a verdict
	}
	why := "the last result is out of date: " + c.State
	if c.maybeCurrent() {
		why = "whether the last result still holds is unknown: " + c.State
	}
	return Checkpoint{Name: c.Name, Policy: c.Policy, Class: verdict.NotRun, Message: &why, Groups: verdict.NoTestCounts(), Tests: []Test{}, State: c.State, Run: c.Run}
}

// maybeCurrent reports whether it is unknown if the verdict of c, which has a State, still holds.
func (c *Checkpoint) maybeCurrent() bool {
	switch c.State {
	case StateUnknown:
		return true
	case "broken", "blocked": // an input of the verdict, such as an image, cannot be read now
		return outcomeOf(c) != verdict.OutcomeBroken
	}
	return false
}

// Current returns r with the verdicts that hold now.
func (r *Results) Current() *Results {
	out := *r
	out.Cells = slices.Clone(r.Cells)
	for i := range out.Cells {
		cell := &out.Cells[i]
		if !slices.ContainsFunc(cell.Checkpoints, func(c Checkpoint) bool { return c.State != "" }) {
			continue
		}
		cell.Checkpoints = slices.Clone(cell.Checkpoints)
		for j := range cell.Checkpoints {
			cell.Checkpoints[j] = cell.Checkpoints[j].Current()
		}
		cell.SumUp()
	}
	return &out
}

// SumUp sets the fields of c that are derived from its checkpoints.
func (c *Cell) SumUp() {
	var classes []verdict.Class
	stopped := false // the run ended before the checkpoint, or the machine lacks a device
	c.Message, c.Score, c.ScoreUnbounded = nil, nil, nil
	for i := range c.Checkpoints {
		one := &c.Checkpoints[i]
		classes = append(classes, one.Class)
		stopped = stopped || one.Class == verdict.NotRun
		if c.Message == nil && one.Message != nil {
			message := *one.Message
			if one.Name != "" {
				message = one.Name + ": " + message
			}
			c.Message = &message
		}
		if one.Name == "" {
			c.Score, c.ScoreUnbounded = one.Score, one.ScoreUnbounded
		}
	}
	c.Status = verdict.CellStatus(classes)
	if stopped && c.Status == verdict.Success {
		c.Status = verdict.Skipped // some requested checkpoint was not judged
	}
}
