package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
)

// validateReferences judges what problems ship.
func (a *app) validateReferences(ctx context.Context, cfg *lang.Config) error {
	var results *report.Results
	var judged error
	if eval.ShipsReference(cfg) {
		if results, judged = a.judgeReferences(ctx); results == nil {
			return judged
		}
	}
	rows, missed := eval.CompareReferences(cfg, results)
	if a.flags.json {
		err := a.writeJSON(map[string]any{"schema": 1, "valid": missed == 0 && judged == nil, "references": orEmpty(rows)})
		if err != nil {
			return err
		}
	} else {
		for _, r := range rows {
			if !r.Reached && r.Score != nil {
				a.tell("%s: its reference has the score %v, and must reach %v\n", r.Problem, *r.Score, r.Wanted)
			} else if !r.Reached {
				a.tell("%s: its reference has no score, and must reach %v\n", r.Problem, r.Wanted)
			}
		}
		if !a.flags.quiet {
			fmt.Fprintf(a.io.Out, "%d of %d references reach their score\n", len(rows)-missed, len(rows))
		}
	}
	if judged == nil && missed > 0 {
		return exit(eval.Failed, nil)
	}
	return judged
}

// judgeReferences evaluates the suite of them. With --json one object is printed, and
// no events.
func (a *app) judgeReferences(ctx context.Context) (*report.Results, error) {
	asJSON, quiet := a.flags.json, a.flags.quiet
	if asJSON {
		a.flags.json, a.flags.quiet = false, true
	}
	defer func() { a.flags.json, a.flags.quiet = asJSON, quiet }()
	o := a.options()
	o.References = true
	out, judged := a.run(ctx, o, eval.Request{Selection: eval.Selection{Targets: []string{"suite=" + lang.ReferenceName}}}, "")
	if out == nil {
		return nil, judged
	}
	results, err := out.Results()
	return results, errors.Join(judged, err)
}
