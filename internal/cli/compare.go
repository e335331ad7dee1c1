package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/compare"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// compareFlags are the flags of compare.
type compareFlags struct {
	logFlags
	by, format, run, against string
}

func (a *app) compareCommand() *cobra.Command {
	var f compareFlags
	cmd := command("compare [NAME...] [SELECTOR...]", "Compare solutions, models or backends, with significance tests",
		`Compare compares solutions, models, backends, or the values of other labels of
solutions, problem by problem. It prints the difference of the means over
problems, its confidence interval, and the probability of such a difference by
chance. Differences that are not significant are marked by ~. Solutions that
share a letter do not differ significantly.

Names select what is compared; the default is everything. Arguments with = are
selectors. It compares the last known results, or those of a run, or, if all
names are files or directories of other programs, the results in these, with or
without a project. --metric then names one of their metrics.`,
		`  fevalgraph compare
  fevalgraph compare reference agent
  fevalgraph compare --by model --metric checkpoints
  fevalgraph compare --against reference
  fevalgraph compare --by backend --run latest problem=kvstore
  fevalgraph compare --by model --format markdown
  fevalgraph compare logs/a.eval logs/b.eval
  fevalgraph compare harbor/jobs/a harbor/jobs/b
  fevalgraph compare scores.csv --by model`,
		func(cmd *cobra.Command, args []string) error {
			a.idle.Store(true)
			return a.runCompare(cmd.Context(), &f, args)
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&f.by, "by", "solution", "compare the values on this `AXIS`: solution, backend, or a label of solutions, such as model")
	cmd.Flags().StringVar(&f.metric, "metric", "", "what counts: "+strings.Join(report.Metrics, ", ")+" (default: score where all problems give scores, else solved)")
	cmd.Flags().StringVar(&f.against, "against", "", "compare all others only with this `NAME`: fewer pairs show smaller differences")
	cmd.Flags().StringVar(&f.format, "format", "table", strings.Join(report.CompareFormats, ", "))
	cmd.Flags().StringVar(&f.run, "run", "", "the results of a run: its `ID`, a part of it, latest, or latest~1; or a file of results --format json")
	f.addAs(cmd, a)
	return cmd
}

func (a *app) runCompare(ctx context.Context, f *compareFlags, args []string) error {
	if a.flags.json {
		f.format = "json"
	}
	all, selectors := f.split(args)
	names := []string{}
	for _, name := range all {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	options := a.logOptions()
	results := f.as == "" && f.run == "" && compare.AreResults(&options, names)
	files := !results && (f.as != "" || f.run == "") && a.areLogs(&f.logFlags, names, false)
	switch {
	case f.lower && !files:
		return exit.With(exit.Usage, errors.New("--lower requires files of other programs"))
	case !slices.Contains(report.CompareFormats, f.format):
		return exit.With(exit.Usage, text.Unknown("format", f.format, report.CompareFormats))
	case f.metric != "" && !files && !slices.Contains(report.Metrics, f.metric):
		return exit.With(exit.Usage, text.Unknown("metric", f.metric, report.Metrics))
	}
	c := compareInput{metric: f.metric, names: names}
	var err error
	switch {
	case results:
		var logs *compare.Logs
		if logs, err = compare.ReadResults(&options, names); err == nil {
			c = compareInput{results: logs.Results, of: logs.Of, metric: f.metric}
		}
	case files:
		err = a.compareLogs(&c, f)
	default:
		c.results, c.of, err = a.resultsToCompare(ctx, f.run)
	}
	if err != nil {
		return err
	}
	if c.results, err = selection.Pick(c.results, selectors); err != nil {
		return err
	}
	if err := checkAxis(c.results, f.by); err != nil {
		return err
	}
	contenders, err := report.Compare(c.results, f.by, c.metric, c.names, f.against)
	if err != nil {
		return exit.With(exit.NoMatch, err)
	}
	contenders.Of, contenders.Notes = strings.Join(append([]string{c.of}, selectors...), ", "), c.notes
	return report.WriteContenders(a.io.Out, f.format, contenders, a.tableOptions())
}

// compareInput selects results for a comparison.
type compareInput struct {
	results *report.Results
	of      string // their origin
	metric  string
	names   []string // on the axis; empty means all
	notes   []string
}

// compareLogs reads the files of other programs in c.names.
func (a *app) compareLogs(c *compareInput, f *compareFlags) error {
	if f.run != "" {
		return exit.With(exit.Usage, errors.New("--as requires files of other programs, and --run results of this one"))
	}
	logs, err := a.readLogs(&f.logFlags, c.names)
	if err == nil {
		err = logs.Matches()
	}
	if err != nil {
		return err
	}
	*c = compareInput{results: logs.Results, of: logs.Of, metric: logs.Metric, notes: logs.Remarks()}
	return nil
}

// resultsToCompare returns the results of a run or a file or, without a name, the last known ones. of describes
// their origin.
func (a *app) resultsToCompare(ctx context.Context, name string) (results *report.Results, of string, err error) {
	present, isFile := false, false
	if name == "" {
		results, present, err = a.lastKnown(ctx)
	} else {
		results, isFile, err = a.resultsOf(name)
	}
	switch {
	case err != nil:
		return nil, "", err
	case present:
		return results, "last known results", nil
	case isFile:
		return results, name, nil
	}
	return results, "run " + results.Run, nil
}
