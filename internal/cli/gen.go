package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/generate"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) genCommand() *cobra.Command {
	var r generate.Request
	var past string
	cmd := command("gen [SELECTOR...]", "Have models write solutions",
		`Gen requests solutions from the models of generator blocks, and writes the
answers to the files that the blocks name. Run grades them like any others, and
contacts no model.

Answers are saved as they arrive, so that an interrupted gen resumes where it
stopped. An answer belongs to its whole request: a changed prompt is another
request. An answer without usable code leaves a file .FAILED with the reason.

API keys are used only after `+"`fevalgraph trust`"+` has shown which are sent where.

A selector is a glob over PROBLEM/CHECKPOINT/GENERATOR#ATTEMPT, or AXIS=GLOB
with the axes generator, problem, checkpoint, attempt and model. Commas mean
and, several arguments mean or. Earlier checkpoints come first.

Exit codes: 0 all answers are present, 1 an answer had no usable code, 2 usage
or configuration error, or a wrong endpoint, model or key, 3 a request was not
answered, or --max-cost was reached, 4 nothing selected, 130 interrupted.`,
		`  fevalgraph gen --dry-run
  fevalgraph gen --max-cost 5
  fevalgraph gen generator=small,problem=tally
  fevalgraph gen --missing
  fevalgraph gen --explain generator=small
  fevalgraph gen --again 'tally/checkpoint_2/small#1'`,
		func(cmd *cobra.Command, args []string) error {
			r.Selectors = args
			explain := cmd.Flags().Changed("explain")
			switch {
			case explain && (r.DryRun || r.Missing || r.Again || r.MaxCost != 0):
				return usageError(cmd, errors.New("--explain shows a past call, and excludes other flags of gen"))
			case explain:
				return a.runGenExplain(past, args)
			case cmd.Flags().Changed("max-cost") && !(r.MaxCost > 0):
				return usageError(cmd, fmt.Errorf("--max-cost %v: want dollars, above 0", r.MaxCost))
			case r.Missing && r.Again:
				return usageError(cmd, fmt.Errorf("--missing and --again are mutually exclusive"))
			}
			return a.runGen(cmd.Context(), r)
		})
	cmd.Args = cobra.ArbitraryArgs
	flags := cmd.Flags()
	flags.BoolVarP(&r.DryRun, "dry-run", "n", false, "show the requests and their expected usage, without sending or writing anything")
	flags.BoolVar(&r.Missing, "missing", false, "keep existing files and .FAILED, regardless of what they were made from")
	flags.BoolVar(&r.Again, "again", false, "repeat answered requests; the new answer replaces the old one")
	flags.StringVar(&past, "explain", "", "show the requests of a past call and why it sent them: `ID`, a part of it, latest, or latest~1")
	flags.Lookup("explain").NoOptDefVal = "latest"
	flags.Float64Var(&r.MaxCost, "max-cost", 0, "start no request that could bring the cost of this call above so many `DOLLARS`")
	return cmd
}

func (a *app) runGen(ctx context.Context, r generate.Request) error {
	progress, err := a.progress()
	if err != nil {
		return err
	}
	r.Progress = progress
	out, err := generate.Run(ctx, a.options(), r)
	showErr := progress.Close()
	switch {
	case out == nil:
		return err
	case r.DryRun && a.flags.json:
		err = a.writeJSON(describe.PlannedJSON(out))
	case r.DryRun:
		rows, sum := describe.Planned(out)
		if len(rows.Values) > 0 && !a.flags.quiet {
			view.Table(a.io.Out, rows.Header, rows.Cells(), a.page())
		}
		io.WriteString(a.io.Out, sum)
	case !a.flags.json:
		a.showGenerated(out)
	}
	if err == nil {
		err = showErr
	}
	if out.Exit == exit.Passed && err == nil {
		return nil
	}
	class := out.Exit
	if class == exit.Passed {
		class = exit.NotJudged
	}
	return exit.With(class, err)
}

// showGenerated prints the results for solutions.
func (a *app) showGenerated(out *generate.Outcome) {
	if a.flags.quiet {
		view.Reasons(a.io.Err, describe.Unanswered(out.Placed), "solution")
	} else if header, rows := describe.Generated(out.Placed); len(rows) > 0 {
		view.Table(a.io.Out, header, rows, a.page())
	}
	a.printRemark("%s", describe.Remarks(out.Placed, !a.flags.quiet))
	if a.flags.quiet {
		return
	}
	fmt.Fprintf(a.io.Err, "requested %d in %s%s\n", out.Asked.Requests, text.Duration(out.End.Seconds), describe.Took(out.Asked, out.Priced))
	if out.Exit == exit.Interrupted {
		fmt.Fprintln(a.io.Err, "received answers are kept; the same call requests the rest")
	}
}

// runGenExplain shows what a recorded call of gen requested, what was answered already, and why.
func (a *app) runGenExplain(id string, selectors []string) error {
	past, err := generate.ReadPast(a.options(), id, selectors)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.writeJSON(describe.PastJSON(past))
	}
	if !a.flags.quiet {
		if _, err := io.WriteString(a.io.Out, describe.Past(past, a.page())); err != nil {
			return err
		}
	}
	asked, served := describe.PastCounts(past)
	fmt.Fprintf(a.io.Out, "requested %d, %d answered before\n", asked, served)
	if past.Later != "" {
		a.printRemark("a later call is running, or was killed: --explain=%s\n", past.Later)
	}
	return nil
}
