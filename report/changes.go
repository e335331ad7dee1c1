package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// ChangeKind classifies the change of a checkpoint between two results.
type ChangeKind string

// Kinds of changes, in the order of lists.
const (
	ChangeLost    ChangeKind = "lost"    // its outcome or score is worse
	ChangeBroken  ChangeKind = "broken"  // it was judged, and could not be judged
	ChangeFlaky   ChangeKind = "flaky"   // another verdict on the same inputs; set from causes
	ChangeChanged ChangeKind = "changed" // the same outcome and score, from other tests
	ChangeWon     ChangeKind = "won"
	ChangeJudged  ChangeKind = "judged" // it could not be judged before, and was judged now
	ChangeStale   ChangeKind = "stale"  // the verdict is out of date; a run would judge it again
	ChangeNew     ChangeKind = "new"    // missing in the first result
	ChangeGone    ChangeKind = "gone"   // missing in the second result
)

// ChangeKinds lists the kinds in order.
var ChangeKinds = []ChangeKind{ChangeLost, ChangeBroken, ChangeFlaky, ChangeChanged, ChangeWon, ChangeJudged, ChangeStale, ChangeNew, ChangeGone}

// Change is a checkpoint whose outcome, score or tests differ between two results, or a task whose outcome or outputs
// do.
type Change struct {
	Cell          *Cell       // of the second result, or of the first if the second does not contain it; empty for a task
	Task          *Task       // of the second result, or of the first; nil for a checkpoint
	Was, Is       *Checkpoint // nil if that result does not contain the checkpoint; for a task, a checkpoint with its verdict
	Name          string      // problem/checkpoint/solution@backend, or task:NAME
	Before, After string      // outcome and score, if any; "" means absent
	Kind          ChangeKind
	Causes        []string // empty if unknown
	// TestsLost are the tests that no longer pass, or newly fail; TestsWon is the opposite. Both are set only
	// if both results contain the checkpoint. A test that a result lacks neither passes nor fails there.
	TestsLost, TestsWon []Test
}

// Cause returns the causes of the change in one line, or "" if they are unknown.
func (c *Change) Cause() string { return strings.Join(c.Causes, ", ") }

// Worse reports whether the checkpoint's outcome or score is worse than it was.
func (c *Change) Worse() bool { return c.Kind == ChangeLost || c.Kind == ChangeBroken }

// Changes compares two results. It lists what became worse, then better, then new and missing checkpoints, each
// in the order of the results.
func Changes(before, after *Results) []Change {
	was, order := map[string]row{}, []string{}
	for _, row := range judgedRows(before) {
		name := rowName(row, true)
		was[name], order = row, append(order, name)
	}
	var changes []Change
	for _, row := range judgedRows(after) {
		name := rowName(row, true)
		old, known := was[name]
		delete(was, name)
		c := Change{Cell: row.cell, Task: row.task, Is: row.checkpoint, Name: name, After: row.standing(), Kind: ChangeNew}
		if row.task != nil {
			cause, _, _ := strings.Cut("; "+row.task.Cause, "; last attempt ")
			if cause = strings.TrimPrefix(cause, "; "); cause != "" {
				c.Causes = []string{cause}
			}
		}
		if known {
			c.Was, c.Before = old.checkpoint, old.standing()
			if row.checkpoint.State != "" || old.checkpoint.State != "" {
				c.Kind = ChangeStale
			} else if c.compare(); c.Kind == "" {
				others := row.task.otherOutputs(old.task)
				if len(others) == 0 {
					continue
				}
				c.Kind, c.After = ChangeChanged, c.After+", other "+strings.Join(others, ", ")
			}
		}
		changes = append(changes, c)
	}
	for _, name := range order {
		if old, gone := was[name]; gone {
			changes = append(changes, Change{Cell: old.cell, Task: old.task, Was: old.checkpoint, Name: name, Before: old.standing(), Kind: ChangeGone})
		}
	}
	sortChanges(changes)
	return changes
}

func sortChanges(changes []Change) {
	slices.SortStableFunc(changes, func(a, b Change) int {
		return cmp.Compare(slices.Index(ChangeKinds, a.Kind), slices.Index(ChangeKinds, b.Kind))
	})
}

// compare sets the kind of the change and the tests that changed. The kind is "" if nothing changed.
func (c *Change) compare() {
	c.TestsLost, c.TestsWon = worseTests(c.Was, c.Is), worseTests(c.Is, c.Was)
	merit, had, has := compareOutcomes(c.Is, c.Was, c.Cell.lower()), hasVerdict(c.Was), hasVerdict(c.Is)
	switch c.Kind = ""; {
	case had && !has:
		c.Kind = ChangeBroken
	case !had && has:
		c.Kind = ChangeJudged
	case merit < 0:
		c.Kind = ChangeLost
	case merit > 0:
		c.Kind = ChangeWon
	case has && c.Was.Class != c.Is.Class:
		c.Before, c.After = c.Before+": "+string(c.Was.Class), c.After+": "+string(c.Is.Class)
		c.Kind = ChangeChanged
	case c.Before != c.After || len(c.TestsLost)+len(c.TestsWon) > 0:
		c.Kind = ChangeChanged
	}
}

// hasVerdict reports whether a checkpoint was judged, or failed to be judged because of the submission.
func hasVerdict(c *Checkpoint) bool {
	o := outcomeOf(c)
	return o != verdict.OutcomeBroken && o != verdict.OutcomeSkipped
}

// worseTests returns the tests of a checkpoint that fail and passed or did not exist before, or
// that earn less.
func worseTests(was, is *Checkpoint) (worse []Test) {
	old, now := was.testsByName(), is.testsByName()
	for i := range is.Tests {
		t := &is.Tests[i]
		o := old[t.name()]
		less := o != nil && o.Ratio != nil && t.Ratio != nil && *t.Ratio < *o.Ratio
		if fails(t) && (o == nil || !fails(o)) || o != nil && o.Status == verdict.TestPassed && t.Status != verdict.TestPassed || less {
			worse = append(worse, *t)
		}
	}
	for i := range was.Tests {
		if t := &was.Tests[i]; now[t.name()] == nil && t.Status == verdict.TestPassed {
			worse = append(worse, *t)
		}
	}
	return worse
}

func (c *Checkpoint) testsByName() map[string]*Test {
	all := make(map[string]*Test, len(c.Tests))
	for i := range c.Tests {
		all[c.Tests[i].name()] = &c.Tests[i]
	}
	return all
}

// name returns the pytest node ID of a test, or the name of a case.
func (t *Test) name() string {
	if t.File == "" {
		return t.ID
	}
	return t.File + "::" + t.ID
}

// standing returns the outcome of a task, or what standing returns of a checkpoint.
func (r row) standing() string {
	switch {
	case r.task == nil:
		return standing(r.checkpoint)
	case r.checkpoint.State == "":
		return r.task.Outcome
	}
	return "to be run"
}

// standing returns the outcome and score of a checkpoint or, if its verdict is out of date, its state.
func standing(c *Checkpoint) string {
	switch c.State {
	case "":
	case StateUnknown:
		return "unknown"
	case "error":
		return "no verdict"
	default:
		return "to be judged"
	}
	s := string(outcomeOf(c))
	if class := c.ShownClass(); c.Class == verdict.Judged && class != verdict.Judged {
		s = string(class)
	}
	score, unbounded := formatExact(c.Score)+c.ScoreText, formatExact(c.ScoreUnbounded)+c.ScoreUnboundedText
	if score != "" {
		s += " " + score
	}
	if unbounded != "" && unbounded != score {
		s += fmt.Sprintf(" (unbounded %s)", unbounded)
	}
	return s
}

// outcomesByMerit lists the outcomes, the worst first.
var outcomesByMerit = []verdict.Outcome{verdict.OutcomeSkipped, verdict.OutcomeBroken, verdict.OutcomeErrored, verdict.OutcomeNotReached,
	verdict.OutcomeFailed, verdict.OutcomeScored, verdict.OutcomePassed}

// compareOutcomes returns a negative number if a is worse than b. It compares outcomes, then scores, then
// unbounded scores, of which higher or lower ones are better.
func compareOutcomes(a, b *Checkpoint, lower bool) int {
	merit := func(c *Checkpoint) int { return slices.Index(outcomesByMerit, outcomeOf(c)) }
	number := func(n *float64) float64 {
		if n == nil {
			return 0
		}
		return *n
	}
	by := cmp.Or(cmp.Compare(number(a.Score), number(b.Score)), cmp.Compare(number(a.ScoreUnbounded), number(b.ScoreUnbounded)))
	if lower {
		by = -by
	}
	return cmp.Or(cmp.Compare(merit(a), merit(b)), by)
}

// SameResult reports whether a and b are the result of one execution: equal verdicts and equal durations.
func SameResult(a, b *Checkpoint) bool {
	return standing(a) == standing(b) && a.Class == b.Class && a.DurationMS == b.DurationMS && slices.EqualFunc(a.Tests, b.Tests, func(x, y Test) bool {
		return x.ID == y.ID && x.File == y.File && x.Status == y.Status && x.DurationMS == y.DurationMS
	})
}
