package report

import (
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// outcomeOf is the outcome of c.
func outcomeOf(c *Checkpoint) verdict.Outcome {
	return verdict.OutcomeOf(c.Class, c.Passed, c.Policy)
}

// passedText is "true" or "false", and empty where there is no rule to pass by.
func passedText(c *Checkpoint) string {
	if outcomeOf(c) == verdict.OutcomeScored {
		return ""
	}
	return strconv.FormatBool(outcomeOf(c) == verdict.OutcomePassed)
}

// remark is a case that stands for a checkpoint as a whole in formats that
// know only tests, so that reading the tests alone never gives a better
// verdict than the checkpoint has.
type remark struct {
	outcome verdict.Outcome
	kind    string // class of the checkpoint, or "policy"
	message string
}

// remarkOn returns what c's tests do not say, or nil when they say it all: a
// checkpoint that was not judged, or one that failed without a failing test.
func remarkOn(c *Checkpoint) *remark {
	v := outcomeOf(c)
	switch v {
	case verdict.OutcomePassed, verdict.OutcomeScored:
		return nil
	case verdict.OutcomeFailed:
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
	n, which := verdict.Policy(c.Policy).Scope(c.Groups)
	if n.Total == 0 {
		out += ", there are no " + which
	}
	if t := skipped(c); t != nil {
		out += ": " + t.ID + " was skipped"
		if t.Message != nil && *t.Message != "" {
			out += ": " + text.FirstLine(*t.Message)
		}
	}
	return out
}

// skipped returns the first test that a policy looks at and that was skipped, or nil.
func skipped(c *Checkpoint) *Test {
	for i := range c.Tests {
		t := &c.Tests[i]
		one := verdict.NoTestCounts()
		one.Add(t.Group, t.Status)
		if n, _ := verdict.Policy(c.Policy).Scope(one); t.Status == verdict.TestSkipped && n.Total > 0 {
			return t
		}
	}
	return nil
}

func messageOr(message *string, otherwise string) string {
	if message == nil || *message == "" {
		return otherwise
	}
	return *message
}
