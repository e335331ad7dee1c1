package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// ChangeKind says what became of a checkpoint from one result to another.
type ChangeKind string

// The kinds of changes, in the order in which they are listed.
const (
	ChangeLost   ChangeKind = "lost"   // its outcome or score is worse
	ChangeBroken ChangeKind = "broken" // it could be judged, and could not be
	ChangeFlaky  ChangeKind = "flaky"  // another verdict on the same inputs; only causes can tell
	ChangeWon    ChangeKind = "won"
	ChangeStale  ChangeKind = "stale" // the verdict no longer holds; a run would judge it again
	ChangeNew    ChangeKind = "new"   // the first result does not have it
	ChangeGone   ChangeKind = "gone"  // the second one does not
)

// ChangeKinds are the kinds in their order.
var ChangeKinds = []ChangeKind{ChangeLost, ChangeBroken, ChangeFlaky, ChangeWon, ChangeStale, ChangeNew, ChangeGone}

// Change is a checkpoint whose outcome or score two results do not share.
type Change struct {
	Cell          *Cell       // of the second result; of the first for one that is gone
	Was, Is       *Checkpoint // nil where a result does not have it
	Name          string      // problem/checkpoint/solution@backend
	Before, After string      // outcome, with the score where there is one; "" is absent
	Kind          ChangeKind
	Cause         string // what the change comes from, in a line; "" is unknown
}

// Worse reports whether the checkpoint's outcome or score is worse than it was.
func (c *Change) Worse() bool { return c.Kind == ChangeLost || c.Kind == ChangeBroken }

// Changes compares two results: first what became worse, then what became better, what is
// new and what is gone, each in the order of the results.
func Changes(before, after *Results) []Change {
	was, order := map[string]row{}, []string{}
	for _, row := range rowsOf(before.inOrder(false)) {
		name := rowName(row, true)
		was[name], order = row, append(order, name)
	}
	var changes []Change
	for _, row := range rowsOf(after.inOrder(false)) {
		name := rowName(row, true)
		old, known := was[name]
		delete(was, name)
		c := Change{Cell: row.cell, Is: row.checkpoint, Name: name, After: standing(row.checkpoint), Kind: ChangeNew}
		if known {
			c.Was, c.Before = old.checkpoint, standing(old.checkpoint)
			switch {
			case row.checkpoint.State != "":
				c.Kind = ChangeStale
			case c.Before == c.After:
				continue
			default:
				c.Kind = kindOf(old.checkpoint, row.checkpoint)
			}
		}
		changes = append(changes, c)
	}
	for _, name := range order {
		if old, gone := was[name]; gone {
			changes = append(changes, Change{Cell: old.cell, Was: old.checkpoint, Name: name, Before: standing(old.checkpoint), Kind: ChangeGone})
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

func kindOf(was, is *Checkpoint) ChangeKind {
	switch {
	case outcomeOf(is) == verdict.OutcomeBroken && outcomeOf(was) != verdict.OutcomeBroken:
		return ChangeBroken
	case compareOutcomes(is, was) < 0:
		return ChangeLost
	}
	return ChangeWon
}

// standing is the outcome of a checkpoint, and its score; of one whose verdict does not hold,
// its state.
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
	if c.Score != nil {
		s += " " + strconv.FormatFloat(*c.Score, 'f', -1, 64)
	}
	return s
}

// outcomesByMerit are the outcomes, the worst first.
var outcomesByMerit = []verdict.Outcome{verdict.OutcomeSkipped, verdict.OutcomeBroken, verdict.OutcomeErrored, verdict.OutcomeNotReached,
	verdict.OutcomeFailed, verdict.OutcomeScored, verdict.OutcomePassed}

// compareOutcomes is below 0 if a is worse than b. Of equal outcomes the score decides.
func compareOutcomes(a, b *Checkpoint) int {
	merit := func(c *Checkpoint) int { return slices.Index(outcomesByMerit, outcomeOf(c)) }
	score := func(c *Checkpoint) float64 {
		if c.Score == nil {
			return 0
		}
		return *c.Score
	}
	return cmp.Or(cmp.Compare(merit(a), merit(b)), cmp.Compare(score(a), score(b)))
}

// SameResult reports whether two results of a checkpoint are of one judging: the same
// verdicts, which took as long.
func SameResult(a, b *Checkpoint) bool {
	return standing(a) == standing(b) && a.Class == b.Class && a.DurationMS == b.DurationMS && slices.EqualFunc(a.Tests, b.Tests, func(x, y Test) bool {
		return x.ID == y.ID && x.File == y.File && x.Status == y.Status && x.DurationMS == y.DurationMS
	})
}
