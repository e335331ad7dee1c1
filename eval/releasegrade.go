package eval

import (
	"cmp"
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/release"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/verdict/statistics"
)

// GradeRelease runs the project of the new version for the recorded trials that have to be graded again, and adds their
// scores to a release. Progress can be nil.
func GradeRelease(ctx context.Context, o Options, r *release.Release, jobs []string, progress event.Sink) error {
	if !o.HasDir(r.New) {
		return exit.With(exit.Usage, fmt.Errorf("%s is not a directory: --grade needs the project's directory, such as a checkout", r.New))
	}
	o.Recorded = jobPaths(&o, jobs)
	o.Dir = o.Path(r.New)
	problems := map[string]*release.Problem{}
	for i := range r.Problems {
		problems[r.Problems[i].Name] = &r.Problems[i]
	}
	again := Request{Progress: progress}
	for _, t := range r.Trials {
		if t.Class == release.Regrade {
			again.Targets = append(again.Targets, fmt.Sprintf("problem=%s,solution=%s", t.Problem, t.Name))
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
			if score, _, _ := cell.ScoreLike(cell.Recorded); score != nil {
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
			if known := scores[trial{t.Problem, t.Name}]; len(known) > 0 {
				mean := statistics.Mean(known)
				t.After, t.Cause = &mean, problems[t.Problem].Cause()
			} else {
				r.Ungraded++
			}
		}
	}
	r.CompareScores()
	return nil
}
