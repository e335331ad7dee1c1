package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// word is the mark of a checkpoint. Capitals say "look here" where there is
// no colour.
func word(c *Checkpoint) string {
	if c.Class == verdict.ImportedVerdict {
		return string(verdict.ImportedVerdict)
	}
	switch outcomeOf(c) {
	case outcomePassed:
		return "yes"
	case outcomeScored:
		return "-"
	case outcomeFailed:
		return "NO"
	case outcomeSkipped:
		return "skipped"
	case outcomeMissing:
		return "not reached"
	case outcomeErrored:
		return "ERROR"
	}
	return "BROKEN"
}

// note says in one line what the counts do not: why a checkpoint was not
// judged, what keeps it from passing, or that it passes for want of tests.
func note(r row) string {
	c := r.checkpoint
	switch outcomeOf(c) {
	case outcomePassed, outcomeScored:
		if c.ScoreText != "" || c.ScoreUnboundedText != "" {
			return text.FirstLine(r.message())
		}
		if c.Score != nil {
			return failing(c) // what the score lacks
		}
		return c.Caveat()
	case outcomeFailed:
		if m := remarkOn(c); m != nil {
			return text.FirstLine(m.message)
		}
		return failing(c)
	}
	message := text.FirstLine(r.message())
	if c.Class == verdict.NotJudged || c.Class == verdict.NotReached || c.Class == verdict.NotRun || c.Class == verdict.ImportedVerdict {
		return message // the mark says the rest
	}
	switch {
	case message == "":
		return string(c.Class)
	case strings.HasPrefix(message, string(c.Class)+": "):
		return message
	}
	return string(c.Class) + ": " + message
}

// failing names the first failing test of the first group that has one, as
// most policies look at core first, and counts the others.
func failing(c *Checkpoint) string {
	name, group, others := "", len(verdict.Groups), -1
	for _, t := range c.Tests {
		if t.Status != verdict.TestFailed && t.Status != verdict.TestError {
			continue
		}
		others++
		g := slices.Index(verdict.Groups[:], t.Group)
		if g < 0 {
			g = len(verdict.Groups)
		}
		if name == "" || g < group {
			name, group = t.ID, g
			if t.Verdict != "" {
				name = t.Verdict + " on " + t.ID
			}
		}
	}
	if others > 0 {
		name += fmt.Sprintf(" and %d more", others)
	}
	return name
}
