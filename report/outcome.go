package report

import (
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// outcomeOf returns the outcome of c.
func outcomeOf(c *Checkpoint) verdict.Outcome {
	return verdict.OutcomeOf(c.Class, c.Passed, c.Policy)
}

// passedText returns "true" or "false", or "" without a pass rule.
func passedText(c *Checkpoint) string {
	if outcomeOf(c) == verdict.OutcomeScored {
		return ""
	}
	return strconv.FormatBool(outcomeOf(c) == verdict.OutcomePassed)
}

// remark is an extra case that represents a checkpoint in formats that only know tests. With it, the tests
// alone never give a better verdict than the checkpoint.
type remark struct {
	outcome verdict.Outcome
	kind    string // class of the checkpoint, or "policy"
	message string
}

// remarkOn returns a remark for a checkpoint that was not judged or that failed without a failing test, and
// otherwise nil: its tests show the verdict.
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

// caseOf returns what the tests of a checkpoint do not show: the remark on it or, without any test, its verdict.
func caseOf(c *Checkpoint) *remark {
	if m := remarkOn(c); m != nil || len(c.Tests) > 0 {
		return m
	}
	v := outcomeOf(c)
	return &remark{v, string(v), ""}
}

// unmet reports that the pass rule was not met and, if it is a policy that no test matched, this reason.
func unmet(c *Checkpoint) string {
	out := "pass rule not met: " + c.Policy
	n, which := verdict.Policy(c.Policy).Scope(c.Groups)
	if n.Total == 0 && slices.Contains(verdict.Policies(), verdict.Policy(c.Policy)) {
		out += ", there are no " + which
	}
	if t := firstSkipped(c); t != nil {
		out += ": " + t.ID + " was skipped"
		if t.Message != nil && *t.Message != "" {
			out += ": " + text.FirstLine(*t.Message)
		}
	}
	return out
}

// firstSkipped returns the first skipped test that matches the policy, or nil.
func firstSkipped(c *Checkpoint) *Test {
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
