package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// diffFlags are those of diff.
type diffFlags struct {
	format string
	failOn []string
}

var diffFormats = []string{"table", "markdown", "json"}

func (a *app) diffCommand() *cobra.Command {
	var f diffFlags
	cmd := command("diff [BEFORE [AFTER [SELECTOR...]]]", "What changed from one run to another, and why",
		`Diff compares the results of two runs, checkpoint by checkpoint: verdicts that
were lost, that broke, that are flaky (another verdict on the same inputs), that
were won, and checkpoints that only one of the runs has. Each change is shown with
its cause, which is the files and settings that differ between the manifests of
the two runs, and with the first test that fails now and did not before.

Without arguments it compares the latest run with the one before. Either side may
be a file that `+"`fevalgraph results --format json`"+` printed; then there are no causes.`,
		`  fevalgraph diff
  fevalgraph diff latest~3 latest problem=kvstore
  fevalgraph diff main.json latest --format markdown
  fevalgraph diff --fail-on lost,broken`,
		func(cmd *cobra.Command, args []string) error { return a.runDiff(cmd.Context(), &f, args) })
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&f.format, "format", "table", strings.Join(diffFormats, ", "))
	cmd.Flags().StringSliceVar(&f.failOn, "fail-on", nil, "exit with 1 when there are changes of a `KIND`: lost, broken, flaky, won, new or gone")
	return cmd
}

func (a *app) runDiff(ctx context.Context, f *diffFlags, args []string) error {
	format := f.format
	if a.flags.json {
		format = "json"
	}
	if !slices.Contains(diffFormats, format) {
		return exit.With(exit.Usage, text.Unknown("format", format, diffFormats))
	}
	for _, kind := range f.failOn {
		if !slices.Contains(report.ChangeKinds, report.ChangeKind(kind)) {
			return exit.With(exit.Usage, text.Unknown("kind of change", kind, kindNames()))
		}
	}
	d, err := a.difference(ctx, args)
	if err != nil {
		return err
	}
	switch format {
	case "json":
		err = a.writeJSON(differenceJSON(d))
	case "markdown":
		err = report.WriteDifferenceMarkdown(a.io.Out, d)
	default:
		err = report.WriteDifference(a.io.Out, d, columns(a.io.Out), text.NewPalette(a.color()))
	}
	if err != nil {
		return err
	}
	for _, kind := range f.failOn {
		if d.Count(report.ChangeKind(kind)) > 0 {
			return exit.With(exit.Failed, nil)
		}
	}
	return nil
}

func kindNames() (names []string) {
	for _, kind := range report.ChangeKinds {
		names = append(names, string(kind))
	}
	return names
}

// difference compares what the arguments name.
func (a *app) difference(ctx context.Context, args []string) (*report.Difference, error) {
	names := [2]string{"latest~1", "latest"}
	n := copy(names[:], args)
	var sides [2]*report.Results
	recorded := true
	for i, name := range names {
		results, isFile, err := a.resultsOf(name)
		if err == nil {
			sides[i], err = selection.Pick(results, args[n:])
		}
		if err != nil {
			return nil, err
		}
		recorded = recorded && !isFile
	}
	if !recorded {
		return report.Differ(sides[0], sides[1]), nil
	}
	return eval.Differ(ctx, a.options(), sides[0], sides[1])
}

// changeJSON is a change as diff --json prints it.
type changeJSON struct {
	Kind       report.ChangeKind `json:"kind"`
	Problem    string            `json:"problem"`
	Checkpoint string            `json:"checkpoint,omitempty"`
	Solution   string            `json:"solution"`
	Backend    string            `json:"backend"`
	Repeat     int               `json:"repeat"`
	Before     string            `json:"before,omitempty"`
	After      string            `json:"after,omitempty"`
	Cause      string            `json:"cause,omitempty"`
	FirstTest  *report.Test      `json:"first_test,omitempty"`
}

func differenceJSON(d *report.Difference) map[string]any {
	counts := map[report.ChangeKind]int{}
	changes := []changeJSON{}
	for i := range d.Changes {
		c := &d.Changes[i]
		checkpoint := c.Is
		if checkpoint == nil {
			checkpoint = c.Was
		}
		counts[c.Kind]++
		changes = append(changes, changeJSON{Kind: c.Kind, Problem: c.Cell.Problem, Checkpoint: checkpoint.Name, Solution: c.Cell.Solution, Backend: c.Cell.Backend,
			Repeat: c.Cell.Repeat, Before: c.Before, After: c.After, Cause: c.Cause, FirstTest: c.FirstFailure()})
	}
	return map[string]any{"schema": 1, "before": d.Before, "after": d.After, "same": d.Same, "counts": counts, "changes": changes, "causes": orEmpty(d.Causes())}
}
