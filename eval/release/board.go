package release

import (
	"cmp"
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// CompareScores fills Board and Moved, after trials were graded again.
func (r *Release) CompareScores() {
	r.Graded, r.Board, r.Moved = true, entries(r.Trials), moved(r.Trials)
}

// entries compares the scores of each agent with a model before and after, paired by problem.
func entries(trials []Trial) (all []Entry) {
	type entrant struct{ agent, model string }
	by := map[entrant][]*Trial{}
	for i := range trials {
		t := &trials[i]
		by[entrant{t.Agent, t.Model}] = append(by[entrant{t.Agent, t.Model}], t)
	}
	for who, own := range by {
		s := Entry{Agent: who.agent, Model: who.model}
		units := map[string]statistics.Unit{}
		for _, t := range own {
			if t.Class == Rerun {
				s.Again++
			}
			if t.Before == nil || t.After == nil {
				continue
			}
			s.Trials++
			u := units[t.Problem]
			u.A.Values, u.B.Values = append(u.A.Values, *t.After), append(u.B.Values, *t.Before)
			units[t.Problem] = u
		}
		var problems []statistics.Problem
		for _, name := range slices.Sorted(maps.Keys(units)) {
			problems = append(problems, statistics.Problem{units[name]})
		}
		c := statistics.Compare(problems, statistics.Scale{})
		s.Before, s.After, s.Difference = c.B, c.A, c.Difference
		if c.Interval.Known {
			s.Low, s.High = &c.Interval.Low, &c.Interval.High
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.After, a.After), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return all
}

// moved counts lower and higher scores by cause.
func moved(trials []Trial) (all []Moved) {
	by := map[string]*Moved{}
	for _, t := range trials {
		if t.Before == nil || t.After == nil || *t.Before == *t.After {
			continue
		}
		m := by[t.Cause]
		if m == nil {
			m = &Moved{Cause: t.Cause}
			by[t.Cause] = m
		}
		if *t.After < *t.Before {
			m.Lower++
		} else {
			m.Higher++
		}
	}
	for _, m := range by {
		all = append(all, *m)
	}
	slices.SortFunc(all, func(a, b Moved) int {
		return cmp.Or(cmp.Compare(b.Lower+b.Higher, a.Lower+a.Higher), cmp.Compare(a.Cause, b.Cause))
	})
	return all
}
