package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// word returns the verdict on a checkpoint in a word or two; "" for a score without a pass rule.
func word(c *Checkpoint) string {
	switch {
	case c.Class == verdict.ImportedVerdict:
		return string(verdict.ImportedVerdict)
	case c.neverJudged():
		return StateNew
	}
	switch outcome := outcomeOf(c); outcome {
	case verdict.OutcomeScored:
		return ""
	case verdict.OutcomeBroken:
		if c.Class == verdict.Blocked {
			return string(c.Class)
		}
		return string(outcome)
	case verdict.OutcomeErrored:
		return strings.ReplaceAll(string(c.Class), "_", " ")
	case verdict.OutcomeFailed:
		if class := c.ShownClass(); class != verdict.Judged {
			return string(class)
		}
		return string(outcome)
	default:
		return string(outcome)
	}
}

// note returns one line about what the counts do not show: the result that another program recorded, if it
// differs, and verdictNote.
func note(r row) string { return withRecorded(r, verdictNote(r)) }

// tableNote returns the note for a table whose verdict column can name the class.
func tableNote(r row) string {
	rest := verdictNote(r)
	if class := string(r.checkpoint.Class); outcomeOf(r.checkpoint) == verdict.OutcomeErrored && strings.HasPrefix(rest, class) {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, class), ": ")
	}
	return withRecorded(r, rest)
}

func withRecorded(r row, rest string) string {
	recorded := r.recordedNote()
	if recorded != "" && rest != "" {
		return recorded + "; " + rest
	}
	return recorded + rest
}

// verdictNote returns why a checkpoint was not judged or did not pass, or that it passed without tests.
func verdictNote(r row) string {
	c := r.checkpoint
	switch outcomeOf(c) {
	case verdict.OutcomePassed, verdict.OutcomeScored:
		if c.ScoreText != "" || c.ScoreUnboundedText != "" {
			return text.FirstLine(r.message())
		}
		if c.Score != nil {
			return failing(c) // explains the score
		}
		return cmp.Or(c.Caveat(), uncountedNote(c))
	case verdict.OutcomeFailed:
		if m := remarkOn(c); m != nil {
			return text.FirstLine(m.message)
		}
		return failing(c)
	}
	message := text.FirstLine(r.message())
	if c.Class == verdict.NotJudged || c.Class == verdict.Blocked || c.Class == verdict.NotReached || c.Class == verdict.NotRun || c.Class == verdict.ImportedVerdict {
		return message // a mark shows the rest
	}
	switch {
	case message == "":
		return string(c.Class)
	case strings.HasPrefix(message, string(c.Class)+": "):
		return message
	}
	return string(c.Class) + ": " + message
}

// uncountedNote returns how many tests of a passed checkpoint fail, and the pass rule that ignores them; "" if all
// pass.
func uncountedNote(c *Checkpoint) string {
	n := 0
	for i := range c.Tests {
		if fails(&c.Tests[i]) {
			n++
		}
	}
	switch {
	case n == 0 || c.Policy == "":
		return ""
	case n == 1:
		return fmt.Sprintf("1 failure does not count (%s)", c.Policy)
	}
	return fmt.Sprintf("%d failures do not count (%s)", n, c.Policy)
}

// failing names the first failing test of the first group with one, since most policies look at core first, and
// counts the others.
func failing(c *Checkpoint) string {
	name, t := firstFailing(c)
	others := -1
	for i := range c.Tests {
		if fails(&c.Tests[i]) {
			others++
		}
	}
	if t != nil && others > 0 {
		name += fmt.Sprintf(" and %d more", others)
	}
	return name
}

// firstFailing returns the test that failing names, or nil if all tests pass.
func firstFailing(c *Checkpoint) (name string, t *Test) {
	group := len(verdict.Groups)
	for i := range c.Tests {
		if !fails(&c.Tests[i]) {
			continue
		}
		g := slices.Index(verdict.Groups[:], c.Tests[i].Group)
		if g < 0 {
			g = len(verdict.Groups)
		}
		if t == nil || g < group {
			t, group = &c.Tests[i], g
		}
	}
	if t == nil {
		return "", nil
	}
	if t.Verdict != "" {
		return t.Verdict + " on " + t.ID, t
	}
	return t.ID, t
}

func fails(t *Test) bool { return t.Status == verdict.TestFailed || t.Status == verdict.TestError }
