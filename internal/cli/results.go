package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// resultsFlags are the flags of results.
type resultsFlags struct {
	logs               logFlags
	format, run, order string
	policy             policyFlag
	imports            importFlags
	by                 []string
	at                 []int
	failed, tests      bool
	github             githubFlags
}

func (a *app) resultsCommand() *cobra.Command {
	f := &resultsFlags{imports: importFlags{importer: eval.Importer(a.options())}}
	cmd := command("results [FILE...] [SELECTOR...]", "Show last known results, or those of one run",
		`Results prints the last known result of every checkpoint that the configuration
has, from any run, and marks those that are out of date; or, with --run, only
the results of that run. It evaluates nothing. Selectors select a part. With
--failed, only what did not pass is shown; with --tests, each test or case has a
row with the first line of its message. For files of other programs, or
directories of them, it prints their results.

Formats: `+strings.Join(text.Fold(strings.Join(report.Formats(), ", "), 70), "\n")+`.

`+f.imports.help()+`With --by, cells are summed up by their values on axes: how many are solved,
mean, minimum and maximum of their scores, and the expected best of k attempts
at a problem, for each k of --at. Axes are problem, solution, backend and labels
of solutions. Formats are then `+strings.Join(report.GroupFormats(), ", ")+`.

`+policyHelp(),
		`  fevalgraph results
  fevalgraph results --failed --tests problem=kvstore
  fevalgraph results verdict=failed --sort failed
  fevalgraph results --format json --run 20260102-150405-ab12cd
  fevalgraph results --format junit > junit.xml
  fevalgraph results --format github --against main.json --comment comment.md
  fevalgraph results --import batch/.state.research.json
  fevalgraph results --by model --at 1,5
  fevalgraph results --by problem --format json
  fevalgraph results logs/a.eval --format csv`,
		func(cmd *cobra.Command, args []string) error {
			a.idle.Store(true)
			results, err := a.wantedResults(cmd, f, args)
			if err != nil {
				return err
			}
			if a.flags.json && !cmd.Flags().Changed("format") {
				f.format = "json"
			}
			return a.writeResults(f, results)
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().BoolVar(&f.failed, "failed", false, "only what did not pass")
	cmd.Flags().BoolVar(&f.tests, "tests", false, "a row for each test or case, with its message ("+strings.Join(report.TestFormats(), ", ")+")")
	cmd.Flags().StringVar(&f.order, "sort", "name", "order of tables: name, or failed (failures first)")
	cmd.Flags().StringVar(&f.format, "format", "table", strings.Join(report.Formats(), ", "))
	cmd.Flags().StringVar(&f.run, "run", "", "only the results of a run: its `ID`, a part of it, latest, or latest~1 for the one before")
	cmd.Flags().StringSliceVar(&f.by, "by", nil, "sum up by `AXES`: problem, solution, backend, or labels (with commas, or repeated)")
	cmd.Flags().IntSliceVar(&f.at, "at", []int{1}, "with --by: numbers of attempts `K` for pass@k and best of k")
	f.logs.add(cmd, a)
	f.github.add(cmd)
	f.policy.add(cmd, "decide by this policy what passed")
	f.imports.add(cmd)
	return cmd
}

// wantedResults reads the results that flags and selectors select.
func (a *app) wantedResults(cmd *cobra.Command, f *resultsFlags, args []string) (*report.Results, error) {
	var results *report.Results
	logs, selectors, err := a.logsOf(cmd, &f.logs, args, "run", "import", "count-imported", "policy", "against")
	switch {
	case err != nil:
		return nil, err
	case logs != nil:
		results, args = logs.Results, selectors
	default:
		if results, err = a.ownResults(cmd.Context(), f); err != nil {
			return nil, err
		}
	}
	if f.policy.policy != nil {
		results = results.Under(*f.policy.policy)
	}
	if results, err = selection.Pick(results, args); err != nil {
		return nil, err
	}
	if f.failed && !f.tests { // a checkpoint can pass with failing tests
		results = results.Unsolved()
	}
	return results, nil
}

// ownResults reads results of runs, and adds imported ones.
func (a *app) ownResults(ctx context.Context, f *resultsFlags) (*report.Results, error) {
	if err := f.imports.check(); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	results, err := a.results(ctx, f.run)
	if errors.Is(err, event.ErrNoRuns) && f.imports.file != "" && f.run == "" {
		results, err = &report.Results{Schema: report.Schema}, nil
	}
	if err != nil {
		return nil, err
	}
	return results, a.addImported(ctx, results, &f.imports)
}

// writeResults prints results in the selected format.
func (a *app) writeResults(f *resultsFlags, results *report.Results) error {
	if len(f.by) > 0 {
		return a.groups(results, f.by, f.at, f.format)
	}
	if f.order != "name" && f.order != "failed" {
		return exit.With(exit.Usage, text.Unknown("order", f.order, []string{"name", "failed"}))
	}
	o := a.tableOptions()
	o.FailuresFirst = f.order == "failed"
	if f.format != githubFormat && (f.github.comment != "" || f.github.against != "") {
		return exit.With(exit.Usage, errors.New("--comment and --against require --format github"))
	}
	if f.format == githubFormat && !f.tests {
		return a.writeGitHub(f.github, results, o)
	}
	var err error
	if f.tests {
		err = report.WriteTests(a.io.Out, f.format, results, f.failed, o)
	} else {
		err = report.Write(a.io.Out, f.format, results, o)
	}
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	return nil
}

// results returns the results of a run, or the last known ones without a run.
func (a *app) results(ctx context.Context, run string) (*report.Results, error) {
	if run != "" {
		return eval.Results(a.options(), run)
	}
	results, _, err := a.lastKnown(ctx)
	return results, err
}

// lastKnown returns the last known results. If the configuration has errors, it returns the results of the
// latest run, and present is false.
func (a *app) lastKnown(ctx context.Context) (results *report.Results, present bool, err error) {
	results, err = eval.Present(ctx, a.options())
	var mistakes diag.List
	if !errors.As(err, &mistakes) {
		return results, true, err
	}
	if results, err = eval.Results(a.options(), "latest"); err == nil {
		fmt.Fprintf(a.io.Err, "warning: the configuration has errors, see `fevalgraph validate`; these are the results of run %s\n", results.Run)
	}
	return results, false, err
}

// groups prints summaries of results by axes. Some cell must have a value on each axis.
func (a *app) groups(results *report.Results, by []string, at []int, format string) error {
	for _, axis := range by {
		if err := checkAxis(results, axis); err != nil {
			return err
		}
	}
	for _, k := range at {
		if k < 1 {
			return exit.With(exit.Usage, fmt.Errorf("--at %d: want numbers of attempts from 1 on", k))
		}
	}
	if err := report.WriteGroups(a.io.Out, format, results, by, at, a.tableOptions()); err != nil {
		return exit.With(exit.Usage, err)
	}
	return nil
}

// checkAxis returns an error if no cell has a value on an axis.
func checkAxis(results *report.Results, axis string) error {
	if known := results.Axes(); len(results.Cells) > 0 && !slices.Contains(known, axis) {
		return exit.With(exit.Usage, fmt.Errorf("--by %s: no cell has this axis; known are %s", axis, strings.Join(known, ", ")))
	}
	return nil
}
