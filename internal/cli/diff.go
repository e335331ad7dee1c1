package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	logFlags
	format    string
	failOn    []string
	solutions []string
}

var diffFormats = []string{"table", "markdown", "json", githubFormat}

func (a *app) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := command("diff [BEFORE [AFTER [SELECTOR...]]]", "Show what changed from one run to another, and why",
		`Diff compares two results, checkpoint by checkpoint and task by task: verdicts
that were lost or won, that broke or could be judged again, that are flaky
(another verdict on the same inputs), or that are the same with other tests;
tasks that failed or have other outputs; and what only one side has.

Each change is shown with its cause, the files and settings that differ between
the manifests of the two sides, and with the first newly failing test.
Checkpoints with the same verdict on other inputs are counted by cause. With
--verbose causes are not shortened.

A side is a run; now, the current project, with what a run would judge again; a
project's directory, or DIRECTORY@RUN; a pack with a run; or a file of
`+"`fevalgraph results --format json`"+`, whose causes are unknown; or both are
files that other programs wrote, or directories of them. Without arguments the
latest run is compared with the one before. With --solutions two solutions are
compared in one run, the latest or the first argument.

--fail-on takes kinds of changes, or selectors of changes, whose axes are change
and cause besides those of results.`,
		`  fevalgraph diff
  fevalgraph diff latest now
  fevalgraph diff latest~3 latest problem=kvstore
  fevalgraph diff --solutions hasty,reference
  fevalgraph diff ../main latest --format github
  fevalgraph diff logs/a.eval logs/b.eval
  fevalgraph diff --fail-on lost,broken
  fevalgraph diff --fail-on 'change=lost,problem=kv*'`,
		func(cmd *cobra.Command, args []string) error {
			a.idle.Store(true)
			return a.runDiff(cmd, &f, args)
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&f.format, "format", "table", strings.Join(diffFormats, ", "))
	cmd.Flags().StringArrayVar(&f.failOn, "fail-on", nil, "exit with 1 if there are changes of a `KIND` (lost, broken, flaky, changed, won, judged, stale, new or gone; or several, with commas), or changes that a selector matches (repeatable)")
	f.logFlags.add(cmd, a)
	cmd.Flags().StringSliceVar(&f.solutions, "solutions", nil, "compare these two solutions, `A,B`, in one run")
	return cmd
}

func (a *app) runDiff(cmd *cobra.Command, f *diffFlags, args []string) error {
	format := f.format
	if a.flags.json {
		format = "json"
	}
	if !slices.Contains(diffFormats, format) {
		return exit.With(exit.Usage, text.Unknown("format", format, diffFormats))
	}
	fails, err := selection.Changes(f.failOn)
	if err != nil {
		return err
	}
	d, err := a.difference(cmd, f, args)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		err = a.writeJSON(d.Object())
	case "markdown":
		err = report.WriteDifferenceMarkdown(a.io.Out, d)
	case githubFormat:
		err = a.onGitHub(func(w io.Writer) error { return report.WriteDifferenceMarkdown(w, d) }, func(w io.Writer) error { return report.WriteChangeAnnotations(w, d) })
	default:
		err = report.WriteDifference(a.io.Out, d, report.Options{Page: a.lines(), Verbose: a.flags.verbose})
	}
	if err != nil {
		return err
	}
	for i := range d.Changes {
		if fails(&d.Changes[i]) {
			return exit.With(exit.Failed, nil)
		}
	}
	return nil
}

// difference compares the sides that the arguments name.
func (a *app) difference(cmd *cobra.Command, f *diffFlags, args []string) (*report.Difference, error) {
	ctx, solutions := cmd.Context(), f.solutions
	if n := len(solutions); n != 0 && n != 2 {
		return nil, exit.With(exit.Usage, fmt.Errorf("--solutions %s: want two, such as hasty,reference", strings.Join(solutions, ",")))
	}
	if logs, selectors, err := a.logsOf(cmd, &f.logFlags, args); err != nil || logs != nil {
		if err != nil {
			return nil, err
		}
		return logs.Difference(solutions, selectors)
	}
	if len(solutions) == 0 {
		names := [2]string{"latest~1", "latest"}
		n := copy(names[:], args)
		return eval.Comparison(a.options()).Runs(ctx, names[0], names[1], args[n:])
	}
	run := "latest"
	if len(args) > 0 {
		run, args = args[0], args[1:]
	}
	return eval.Comparison(a.options()).Solutions(ctx, run, solutions[0], solutions[1], args)
}
