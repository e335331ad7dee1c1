package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
)

// word is the mark of a checkpoint. Capitals say "look here" where there is
// no colour.
func word(c *Checkpoint) string {
	if c.Class == ImportedVerdict {
		return string(ImportedVerdict)
	}
	switch verdictOf(c) {
	case verdictPassed:
		return "yes"
	case verdictFailed:
		return "NO"
	case verdictSkipped:
		return "skipped"
	case verdictErrored:
		return "ERROR"
	}
	return "BROKEN"
}

// note says in one line what the counts do not: why a checkpoint was not
// judged, what keeps it from passing, or that it passes for want of tests.
func note(r row) string {
	c := r.checkpoint
	switch verdictOf(c) {
	case verdictPassed:
		if c.ScoreText != "" || c.ScoreUnboundedText != "" {
			return text.FirstLine(r.message())
		}
		if c.Score != nil {
			return failing(c) // what the score lacks
		}
		return c.Caveat()
	case verdictFailed:
		if m := remarkOn(c); m != nil {
			return text.FirstLine(m.message)
		}
		return failing(c)
	}
	message := text.FirstLine(r.message())
	if c.Class == NotJudged || c.Class == NotReached || c.Class == ImportedVerdict {
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
	name, group, others := "", len(Groups), -1
	for _, t := range c.Tests {
		if t.Status != TestFailed && t.Status != TestError {
			continue
		}
		others++
		g := slices.Index(Groups[:], t.Group)
		if g < 0 {
			g = len(Groups)
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
