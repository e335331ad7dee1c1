package verdict

import (
	"fmt"
	"strconv"
	"strings"
)

// Outcome summarizes a checkpoint in one word.
type Outcome string

// The outcomes, in order of the attention that they need.
const (
	OutcomePassed     Outcome = "passed"
	OutcomeScored     Outcome = "scored" // judged, without a rule to pass by
	OutcomeSkipped    Outcome = "skipped"
	OutcomeFailed     Outcome = "failed"
	OutcomeNotReached Outcome = "not reached"
	OutcomeErrored    Outcome = "errored" // the submission prevented judging
	OutcomeBroken     Outcome = "broken"  // infrastructure prevented judging
)

// OutcomeOf returns the outcome of a checkpoint of a class. passed is used only for a judged checkpoint;
// policy is the text of the rule that decided it.
func OutcomeOf(class Class, passed bool, policy string) Outcome {
	if class == NotReached {
		return OutcomeNotReached
	}
	switch class.Status() {
	case Success:
		switch {
		case passed:
			return OutcomePassed
		case Policy(policy) == NoRule:
			return OutcomeScored
		}
		return OutcomeFailed
	case Skipped:
		return OutcomeSkipped
	case Error, TimedOut:
		return OutcomeErrored
	}
	return OutcomeBroken
}

// Outcome returns the outcome of c.
func (c *Checkpoint) Outcome() Outcome { return OutcomeOf(c.Class, c.Passed, c.Policy) }

// Figures returns the score of c or its counts by group: "core 0/1, functionality 2/2", or "" if nothing was
// counted.
func (c *Checkpoint) Figures() string {
	if c.Class != Judged {
		return string(c.Class)
	}
	if c.Score.Bounded != nil {
		return "score " + strconv.FormatFloat(*c.Score.Bounded, 'g', 6, 64)
	}
	var parts []string
	for _, g := range Groups {
		if n := c.Groups[g]; n.Total > 0 {
			parts = append(parts, fmt.Sprintf("%s %d/%d", strings.ToLower(string(g)), n.Passed, n.Total))
		}
	}
	return strings.Join(parts, ", ")
}

// Rank orders outcomes by the attention that they need.
func (o Outcome) Rank() int {
	switch o {
	case OutcomePassed:
		return 0
	case OutcomeScored:
		return 1
	case OutcomeSkipped:
		return 2
	case OutcomeFailed:
		return 3
	case OutcomeNotReached:
		return 4
	case OutcomeErrored:
		return 5
	}
	return 6
}
