package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// referenceFlags are those of validate for references.
type referenceFlags struct {
	reference, force bool
	repeat           int
	junit, comment   string
}

// check refuses flags that need others.
func (f *referenceFlags) check(cmd *cobra.Command) error {
	for _, name := range []string{"repeat", "force", "junit", "comment"} {
		if cmd.Flags().Changed(name) && !f.reference {
			return usageError(cmd, fmt.Errorf("--%s requires --reference", name))
		}
	}
	if cmd.Flags().Changed("repeat") && f.repeat < 1 {
		return usageError(cmd, errors.New("--repeat wants a number above 0"))
	}
	return nil
}

// validateReferences judges the solutions that problems ship, and compares their results with the expected ones.
func (a *app) validateReferences(ctx context.Context, cfg *lang.Config, f *referenceFlags) error {
	var results *report.Results
	var judged error
	var executed map[[2]string]bool
	if validate.ShipsReference(cfg) {
		out, err := a.judgeReferences(ctx, f)
		if out == nil {
			return err
		}
		judged = err
		if results, err = out.Results(); err != nil || results == nil {
			return errors.Join(judged, err)
		}
		executed = out.Executed
	}
	rows := validate.CompareReferences(cfg, results, executed)
	missed, flaky, unjudged := report.CountReferences(rows)
	project := a.options()
	for _, file := range []struct {
		name  string
		write func(io.Writer, []report.Reference) error
	}{{f.junit, report.WriteReferencesJUnit}, {f.comment, report.WriteReferencesComment}} {
		if file.name == "" {
			continue
		}
		if err := atomicfile.WriteFrom(project.Path(file.name), 0o644, func(w io.Writer) error { return file.write(w, rows) }); err != nil {
			return exit.With(exit.NotJudged, fmt.Errorf("writing %s: %w", file.name, err))
		}
	}
	if a.flags.json {
		valid := missed+flaky+unjudged == 0 && judged == nil
		if err := a.writeJSON(referencesObject{1, valid, view.OrEmpty(rows)}); err != nil {
			return err
		}
	} else if err := a.showReferences(rows, f.repeat); err != nil {
		return err
	}
	switch {
	case judged != nil:
		return judged
	case unjudged > 0:
		return exit.With(exit.NotJudged, nil)
	case missed+flaky > 0:
		return exit.With(exit.Failed, nil)
	}
	return nil
}

// showReferences prints tables, what is wrong, and a last line.
func (a *app) showReferences(rows []report.Reference, repeat int) error {
	_, flaky, unjudged := report.CountReferences(rows)
	reached := 0
	for i := range rows {
		if rows[i].Reached {
			reached++
		}
	}
	if !a.flags.quiet {
		if err := report.WriteReferences(a.io.Out, rows, a.page()); err != nil {
			return err
		}
	}
	a.printRemark("%s", describe.References(rows))
	if a.flags.quiet {
		return nil
	}
	fmt.Fprintf(a.io.Out, "%d of %d references have the expected result", reached, len(rows))
	if repeat > 0 {
		fmt.Fprintf(a.io.Out, " in each of %s; %d flaky", text.Count(repeat, "repeat"), flaky)
	}
	if unjudged > 0 {
		fmt.Fprintf(a.io.Out, "; %d not judged", unjudged)
	}
	fmt.Fprintln(a.io.Out)
	return nil
}

// judgeReferences evaluates the suite of references. That some fail is for their expected results to decide. With
// --json one object is printed, and no events.
func (a *app) judgeReferences(ctx context.Context, f *referenceFlags) (*eval.Outcome, error) {
	asJSON, quiet := a.flags.json, a.flags.quiet
	if asJSON {
		a.flags.json, a.flags.quiet = false, true
	}
	defer func() { a.flags.json, a.flags.quiet = asJSON, quiet }()
	o, all := a.options(), []string{"suite=" + lang.ReferenceName}
	r := eval.Request{Selection: eval.Selection{Targets: all}}
	if f.force {
		r.Force = all
	}
	o.References = max(f.repeat, 1)
	out, err := a.run(ctx, o, r, "", a.flags.verbose)
	if failed := (*exit.Error)(nil); out != nil && errors.As(err, &failed) && failed.Class == exit.Failed && failed.Err == nil {
		err = nil
	}
	return out, err
}
