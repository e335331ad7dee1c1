package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/compare"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/internal/atomicfile"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// githubFlags are the flags of results for format github.
type githubFlags struct {
	comment, against string
}

// githubFormat is the format for GitHub's pages.
const githubFormat = "github"

func (f *githubFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.comment, "comment", "", "with --format github: write the text of a comment to a `FILE`")
	cmd.Flags().StringVar(&f.against, "against", "", "with --format github: show changes since a `RUN`, or a file of --format json")
}

// writeGitHub writes the step summary to the file of GitHub Actions, or else to stdout, and annotations to
// stdout if Actions reads it.
func (a *app) writeGitHub(f githubFlags, results *report.Results, o report.Options) error {
	var err error
	project := a.options()
	if f.against != "" {
		if o.Before, _, err = a.resultsOf(f.against); err != nil {
			return err
		}
	}
	o.Served = servedNodes(project.Records(), results.Run)
	if f.comment != "" {
		o.Limit = report.CommentLimit
		err := atomicfile.WriteFrom(project.Path(f.comment), 0o644, func(w io.Writer) error {
			return report.Write(w, githubFormat, results, o)
		})
		if err != nil {
			return exit.With(exit.NotJudged, fmt.Errorf("writing the comment: %w", err))
		}
	}
	o.Limit = report.SummaryLimit
	return a.onGitHub(func(w io.Writer) error { return report.Write(w, githubFormat, results, o) },
		func(w io.Writer) error { return report.WriteAnnotations(w, results, o.Before) })
}

// onGitHub writes a step summary to the file of GitHub Actions, or else to stdout, and annotations to stdout if
// Actions reads it.
func (a *app) onGitHub(summary, annotations func(io.Writer) error) error {
	if name, ok := a.io.LookupEnv("GITHUB_STEP_SUMMARY"); ok && name != "" {
		if err := appendFile(name, summary); err != nil {
			return exit.With(exit.NotJudged, fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err))
		}
	} else if err := summary(a.io.Out); err != nil {
		return err
	}
	if actions, _ := a.io.LookupEnv("GITHUB_ACTIONS"); actions == "true" {
		return annotations(underlyingWriter(a.io.Out))
	}
	return nil
}

// resultsOf returns the results of a file or a run.
func (a *app) resultsOf(name string) (_ *report.Results, isFile bool, err error) {
	project := a.options()
	if _, err := os.Stat(project.Path(name)); errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, ".json") {
		results, err := eval.Results(project, name)
		return results, false, err
	}
	results, err := compare.ReadResultsFile(&project, name)
	return results, true, err
}

// servedNodes returns the number of nodes that a run served, as a sentence; "" without a record of it.
func servedNodes(records event.Records, run string) string {
	past, err := event.FindRun(records, run)
	if err != nil {
		return ""
	}
	end, ok, err := past.End()
	if err != nil || !ok || end.Nodes == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s nodes served.", text.Thousands(end.Cached), text.Thousands(end.Nodes))
}

func appendFile(name string, write func(io.Writer) error) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
