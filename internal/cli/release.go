package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/report/text"
)

var releaseFormats = []string{"table", "markdown", "json"}

func (a *app) releaseCommand() *cobra.Command {
	var format string
	var jobs []string
	var check, grade bool
	cmd := command("release OLD NEW", "Compare versions of a problem set: what to reuse, what to rerun",
		`Release compares two versions of a set of problems. Each is a directory, with a
configuration or with tasks of Harbor, or a commit of the repository around the
current directory. It prints for each problem, and for each checkpoint:

  reuse    nothing that a verdict depends on changed
  regrade  only the grading changed: tests, their image, limits, rules
  rerun    what solvers see changed: instructions, files, their environment

with the file that decides, and the smallest version increment that reflects it.
With --job, it classifies recorded trials, and adds the cost of those that must
run again. With --check it exits with 1 if a version does not reflect a change.
It runs nothing, and contacts nothing that the problems name, unless --grade is
set: then the project in the directory NEW grades the trials again whose verdicts
changed, as run does, and leaderboards before and after are compared.`,
		`  fevalgraph release v1.2 HEAD
  fevalgraph release origin/main . --check
  fevalgraph release tasks-1.0 tasks-1.1 --job jobs/june --format markdown
  fevalgraph release v1.2 . --job jobs/june --grade`,
		func(cmd *cobra.Command, args []string) error {
			if a.flags.json {
				format = "json"
			}
			if !slices.Contains(releaseFormats, format) {
				return exit.With(exit.Usage, text.Unknown("format", format, releaseFormats))
			}
			return a.runRelease(cmd.Context(), args[0], args[1], jobs, format, check, grade)
		})
	cmd.Args = arguments(2, 2, "two versions of a set of problems")
	cmd.Flags().StringVar(&format, "format", "table", "table, markdown or json")
	cmd.Flags().StringArrayVar(&jobs, "job", nil, "a `DIR` with trials that Harbor recorded (repeatable)")
	cmd.Flags().BoolVar(&grade, "grade", false, "grade trials again whose verdicts changed, and compare leaderboards")
	cmd.Flags().BoolVar(&check, "check", false, "exit with 1 if a version does not reflect a change")
	return cmd
}

func (a *app) runRelease(ctx context.Context, old, new string, jobs []string, format string, check, grade bool) error {
	r, err := eval.Release(ctx, a.options(), old, new, jobs)
	if err != nil {
		return err
	}
	if check && !r.Versioned && len(r.Problems) > 0 {
		return exit.With(exit.Usage, errors.New("no problem has a version, so there is nothing to check"))
	}
	if grade {
		if err := a.gradeRelease(ctx, r, jobs); err != nil {
			return err
		}
	}
	switch {
	case format == "json":
		err = a.writeJSON(r)
	case format == "markdown":
		_, err = io.WriteString(a.io.Out, describe.ReleaseMarkdown(r))
	case !a.flags.quiet:
		_, err = io.WriteString(a.io.Out, describe.Release(r, a.page(), a.flags.verbose))
	}
	if err == nil && r.Ungraded > 0 {
		return exit.With(exit.NotJudged, nil)
	}
	if err == nil && check && r.Wrong() > 0 {
		return exit.With(exit.Failed, nil)
	}
	return err
}

func (a *app) gradeRelease(ctx context.Context, r *describe.ReleaseObject, jobs []string) error {
	if a.flags.json {
		return eval.GradeRelease(ctx, a.options(), r, jobs, nil)
	}
	progress, err := a.progress()
	if err != nil {
		return err
	}
	return errors.Join(eval.GradeRelease(ctx, a.options(), r, jobs, progress), progress.Close())
}
