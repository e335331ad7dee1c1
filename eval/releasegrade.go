package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/release"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// GradeRelease runs the project of the new version for the recorded trials that have to be graded again, and adds their
// scores to a release. Progress can be nil.
func GradeRelease(ctx context.Context, o Options, r *release.Release, jobs []string, progress event.Sink) error {
	if !o.HasDir(r.New) {
		return exit.With(exit.Usage, fmt.Errorf("%s is not a directory: the project that grades is one, such as a checkout of it", r.New))
	}
	for _, job := range jobs {
		o.Recorded = append(o.Recorded, options.Absolute(o.Path(job)))
	}
	o.Dir = o.Path(r.New)
	problems := map[string]*release.Problem{} // by their names in the old version
	for i := range r.Problems {
		problems[cmp.Or(r.Problems[i].Was, r.Problems[i].Name)] = &r.Problems[i]
	}
	again := Request{Progress: progress}
	for _, t := range r.Trials {
		if t.Class == release.Regrade {
			again.Targets = append(again.Targets, fmt.Sprintf("problem=%s,solution=%s", problems[t.Problem].Name, t.Name))
		}
	}
	type trial struct{ problem, solution string }
	scores := map[trial][]float64{}
	if len(again.Targets) > 0 {
		out, err := Run(ctx, o, again)
		if err != nil {
			return err
		}
		results, err := out.Results()
		if err != nil || results == nil {
			return exit.With(exit.NotJudged, cmp.Or(err, context.Cause(ctx)))
		}
		for i := range results.Cells {
			cell := &results.Cells[i]
			if score, _, _ := cell.ScoreLike(cell.Recorded != nil && cell.Recorded.Last); score != nil {
				at := trial{cell.Problem, cell.Solution}
				scores[at] = append(scores[at], *score)
			}
		}
	}
	for i := range r.Trials {
		t := &r.Trials[i]
		switch t.Class {
		case release.Reuse:
			t.After = t.Before
		case release.Regrade:
			p := problems[t.Problem]
			if known := scores[trial{p.Name, t.Name}]; len(known) > 0 {
				mean := statistics.Mean(known)
				t.After, t.Cause = &mean, p.Cause()
			} else {
				r.Ungraded++
			}
		}
	}
	r.Graded, r.Board, r.Moved = true, entries(r.Trials), moved(r.Trials)
	return nil
}

// entries compares the scores of each agent with a model before and after, paired by problem.
func entries(trials []release.Trial) (all []release.Entry) {
	type entrant struct{ agent, model string }
	by := map[entrant][]*release.Trial{}
	for i := range trials {
		t := &trials[i]
		by[entrant{t.Agent, t.Model}] = append(by[entrant{t.Agent, t.Model}], t)
	}
	for who, own := range by {
		s := release.Entry{Agent: who.agent, Model: who.model}
		units := map[string]statistics.Unit{}
		for _, t := range own {
			if t.Class == release.Rerun {
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
	slices.SortFunc(all, func(a, b release.Entry) int {
		return cmp.Or(cmp.Compare(b.After, a.After), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Model, b.Model))
	})
	return all
}

// moved counts lower and higher scores by cause.
func moved(trials []release.Trial) (all []release.Moved) {
	by := map[string]*release.Moved{}
	for _, t := range trials {
		if t.Before == nil || t.After == nil || *t.Before == *t.After {
			continue
		}
		m := by[t.Cause]
		if m == nil {
			m = &release.Moved{Cause: t.Cause}
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
	slices.SortFunc(all, func(a, b release.Moved) int {
		return cmp.Or(cmp.Compare(b.Lower+b.Higher, a.Lower+a.Higher), cmp.Compare(a.Cause, b.Cause))
	})
	return all
}
