package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// validateReferences judges the solutions that problems ship. Each is executed repeat times, even if results
// are stored; 0 judges each once, and uses stored results.
func (a *app) validateReferences(ctx context.Context, cfg *lang.Config, repeat int) error {
	var results *report.Results
	var judged error
	if validate.ShipsReference(cfg) {
		if results, judged = a.judgeReferences(ctx, repeat); results == nil {
			return judged
		}
	}
	rows, missed, flaky := validate.CompareReferences(cfg, results)
	if a.flags.json {
		valid := missed+flaky == 0 && judged == nil
		if err := a.writeJSON(referencesObject{1, valid, view.OrEmpty(rows)}); err != nil {
			return err
		}
	} else {
		a.printRemark("%s", describe.References(rows))
		if !a.flags.quiet {
			fmt.Fprintf(a.io.Out, "%d of %d references have the expected result", len(rows)-missed, len(rows))
			if repeat > 0 {
				fmt.Fprintf(a.io.Out, " in each of %s; %d flaky", text.Count(repeat, "repeat"), flaky)
			}
			fmt.Fprintln(a.io.Out)
		}
	}
	if judged == nil && missed+flaky > 0 {
		return exit.With(exit.Failed, nil)
	}
	return judged
}

// judgeReferences evaluates the suite of references. With --json it prints one object, without events.
func (a *app) judgeReferences(ctx context.Context, repeat int) (*report.Results, error) {
	asJSON, quiet := a.flags.json, a.flags.quiet
	if asJSON {
		a.flags.json, a.flags.quiet = false, true
	}
	defer func() { a.flags.json, a.flags.quiet = asJSON, quiet }()
	o, all := a.options(), []string{"suite=" + lang.ReferenceName}
	r := eval.Request{Selection: eval.Selection{Targets: all}}
	if repeat > 0 {
		r.Force = all
	}
	o.References = max(repeat, 1)
	out, judged := a.run(ctx, o, r, timing{})
	if out == nil {
		return nil, judged
	}
	results, err := out.Results()
	return results, errors.Join(judged, err)
}
