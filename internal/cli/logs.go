package cli

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/compare"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/report/page"
)

// logFlags select the format of files of other programs.
type logFlags struct {
	as, metric string
	lower      bool
}

func (f *logFlags) add(cmd *cobra.Command, a *app) {
	f.addAs(cmd, a)
	cmd.Flags().StringVar(&f.metric, "metric", "", "`METRIC` of files of other programs (default: the first that all contain)")
}

// addAs adds --as; the command adds --metric.
func (f *logFlags) addAs(cmd *cobra.Command, a *app) {
	options := a.options()
	cmd.Flags().BoolVar(&f.lower, "lower", false, "lower values of the metric are better")
	cmd.Flags().StringVar(&f.as, "as", "", "`FORMAT` of the files, instead of detecting it: "+strings.Join(compare.LogFormats(&options), ", "))
}

// split separates names from selectors, which contain a =. With --as, all are names.
func (f *logFlags) split(args []string) (names, selectors []string) {
	for _, arg := range args {
		if strings.Contains(arg, "=") && f.as == "" {
			selectors = append(selectors, arg)
		} else {
			names = append(names, arg)
		}
	}
	return names, selectors
}

// areLogs reports whether names are files of other programs. Without a project, each file must be one, unless
// own is set, which means that the command also reads files of fevalgraph.
func (a *app) areLogs(f *logFlags, names []string, own bool) bool {
	options := a.logOptions()
	if f.as != "" || compare.AreLogs(&options, names) {
		return true
	}
	return !own && !options.InProject() && slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Stat(options.Path(name))
		return err == nil
	})
}

// logOptions returns options that resolve file names relative to the working directory, also in a project.
func (a *app) logOptions() eval.Options {
	options := a.options()
	if a.flags.found {
		options.Dir = ""
	}
	return options
}

// readLogs reads files of other programs.
func (a *app) readLogs(f *logFlags, names []string) (*compare.Logs, error) {
	if len(names) == 0 {
		return nil, exit.With(exit.Usage, errors.New("--as requires files, or directories of them"))
	}
	options := a.logOptions()
	return compare.ReadLogs(&options, names, f.as, f.metric, f.lower)
}

// logsOf reads args if they are files of other programs, and prints notes on them, or files of results of this one. It
// rejects the refused flags, which do not apply to such files.
func (a *app) logsOf(cmd *cobra.Command, f *logFlags, args []string, refused ...string) (logs *compare.Logs, selectors []string, err error) {
	names, selectors := f.split(args)
	if options := a.logOptions(); f.as == "" && cmd.Name() != "diff" && compare.AreResults(&options, names) {
		for _, flag := range append([]string{"metric", "lower"}, refused...) {
			if cmd.Flags().Changed(flag) && flag != "policy" && flag != "against" {
				return nil, nil, usageError(cmd, errors.New("--"+flag+" does not apply to files of results"))
			}
		}
		logs, err = compare.ReadResults(&options, names)
		return logs, selectors, err
	}
	if !a.areLogs(f, names, cmd.Name() == "diff") {
		for _, flag := range []string{"metric", "lower"} {
			if cmd.Flags().Changed(flag) {
				return nil, nil, usageError(cmd, errors.New("--"+flag+" requires files of other programs"))
			}
		}
		return nil, nil, nil
	}
	for _, flag := range refused {
		if cmd.Flags().Changed(flag) {
			return nil, nil, usageError(cmd, errors.New("--"+flag+" is for results of fevalgraph, and the arguments are files of other programs"))
		}
	}
	if logs, err = a.readLogs(f, names); err == nil && !a.flags.quiet {
		notes := logs.Remarks()
		if cmd.Name() == "results" { // which ranks nothing
			notes = logs.Notes
		}
		for _, note := range notes {
			a.printRemark("%s\n", note)
		}
	}
	return logs, selectors, err
}

// reportOf returns a source for the page of a report: of runs or of files of other programs.
func (a *app) reportOf(cmd *cobra.Command, f *logFlags, args []string) (pageSource, error) {
	logs, selectors, err := a.logsOf(cmd, f, args, "serve", "port")
	if err != nil || logs == nil {
		return func(ctx context.Context, show func(*page.Page) error) error {
			return eval.Report(ctx, a.options(), args, show)
		}, err
	}
	return func(_ context.Context, show func(*page.Page) error) error {
		return eval.ReportLogs(a.logOptions(), logs, selectors, show)
	}, nil
}

// pageSource calls show with a page, which is valid until show returns.
type pageSource func(ctx context.Context, show func(*page.Page) error) error
