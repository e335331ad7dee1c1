package report

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Change is a checkpoint whose outcome or score two results do not share.
type Change struct {
	Name          string // problem/checkpoint/solution@backend
	Before, After string // outcome, with the score where there is one; "" is absent
	Worse         bool
}

// Changes compares two results: first what became worse, then what became better, what is
// new and what is gone, each in the order of the results.
func Changes(before, after *Results) []Change {
	was, order := map[string]*Checkpoint{}, []string{}
	for _, row := range rowsOf(before.inOrder(false)) {
		name := rowName(row, true)
		was[name], order = row.checkpoint, append(order, name)
	}
	var changes []Change
	for _, row := range rowsOf(after.inOrder(false)) {
		name := rowName(row, true)
		old, known := was[name]
		delete(was, name)
		now := standing(row.checkpoint)
		switch {
		case !known:
			changes = append(changes, Change{Name: name, After: now})
		case standing(old) != now:
			changes = append(changes, Change{Name: name, Before: standing(old), After: now, Worse: compareOutcomes(row.checkpoint, old) < 0})
		}
	}
	for _, name := range order {
		if old, gone := was[name]; gone {
			changes = append(changes, Change{Name: name, Before: standing(old)})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.kind(), b.kind()) })
	return changes
}

// kind is the place of a change in their order.
func (c Change) kind() int {
	switch {
	case c.After == "":
		return 3
	case c.Before == "":
		return 2
	case c.Worse:
		return 0
	}
	return 1
}

// standing is the outcome of a checkpoint, and its score.
func standing(c *Checkpoint) string {
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
