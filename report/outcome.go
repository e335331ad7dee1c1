package report

import (
	"strconv"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// outcome is what a rendering says about a checkpoint in one word.
type outcome string

const (
	outcomePassed  outcome = "passed"
	outcomeScored  outcome = "scored" // judged, without a rule to pass by
	outcomeFailed  outcome = "failed"
	outcomeMissing outcome = "not reached"
	outcomeErrored outcome = "errored" // the submission kept it from being judged
	outcomeBroken  outcome = "broken"  // infrastructure did
	outcomeSkipped outcome = "skipped"
)

// outcomeOf reads the stored verdict; Passed counts only when there was one.
func outcomeOf(c *Checkpoint) outcome {
	if c.Class == verdict.NotReached {
		return outcomeMissing
	}
	switch c.Class.Status() {
	case verdict.Success:
		if c.Passed {
			return outcomePassed
		}
		if !c.Ruled() {
			return outcomeScored
		}
		return outcomeFailed
	case verdict.Skipped:
		return outcomeSkipped
	case verdict.Error, verdict.TimedOut:
		return outcomeErrored
	}
	return outcomeBroken
}

// passedText is "true" or "false", and empty where there is no rule to pass by.
func passedText(c *Checkpoint) string {
	if outcomeOf(c) == outcomeScored {
		return ""
	}
	return strconv.FormatBool(outcomeOf(c) == outcomePassed)
}

// rank orders verdicts by how much they ask for attention.
func (v outcome) rank() int {
	switch v {
	case outcomePassed:
		return 0
	case outcomeScored:
		return 1
	case outcomeSkipped:
		return 2
	case outcomeFailed:
		return 3
	case outcomeMissing:
		return 4
	case outcomeErrored:
		return 5
	}
	return 6
}

// remark is a case that stands for a checkpoint as a whole in formats that
// know only tests, so that reading the tests alone never gives a better
// verdict than the checkpoint has.
type remark struct {
	outcome outcome
	kind    string // class of the checkpoint, or "policy"
	message string
}

// remarkOn returns what c's tests do not say, or nil when they say it all: a
// checkpoint that was not judged, or one that failed without a failing test.
func remarkOn(c *Checkpoint) *remark {
	v := outcomeOf(c)
	switch v {
	case outcomePassed, outcomeScored:
		return nil
	case outcomeFailed:
		for _, t := range c.Tests {
			if t.Status == verdict.TestFailed || t.Status == verdict.TestError {
				return nil
			}
		}
		return &remark{v, "policy", messageOr(c.Message, unmet(c))}
	}
	return &remark{v, string(c.Class), messageOr(c.Message, string(c.Class))}
}

// unmet says that the policy was not met, and when it had no test to look at
// that this is why.
func unmet(c *Checkpoint) string {
	out := "pass rule not met: " + c.Policy
	if n, which := verdict.Policy(c.Policy).Scope(c.Groups); n.Total == 0 {
		out += ", there are no " + which
	}
	return out
}

func messageOr(message *string, otherwise string) string {
	if message == nil || *message == "" {
		return otherwise
	}
	return *message
}
