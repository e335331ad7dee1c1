package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) findCommand() *cobra.Command {
	cmd := command("find DIGEST|FILE|IMAGE|REQUIREMENT", "List verdicts and tasks that used something, in all recorded runs",
		`Find lists each verdict and each task that used a file with its current
content; content, by its SHA-256 or the beginning of it; an image that a backend
of the configuration names; or a locked requirement, with or without a version.
It searches the manifests of all recorded runs, and shows which verdicts are up
to date. It evaluates nothing. It exits with 4 if no result used it.`,
		`  fevalgraph find deepdiff==8.6.0
  fevalgraph find 'deepdiff 8.6.0' --json
  fevalgraph find data/words.txt
  fevalgraph find sha256:4e07408562be
  fevalgraph find python:3.12-slim`,
		func(cmd *cobra.Command, args []string) error {
			found, err := eval.Find(cmd.Context(), a.options(), args[0])
			if err != nil {
				return err
			}
			if found.Unknown > 0 {
				a.printRemark("warning: the store no longer has the records of %s, so their inputs are unknown\n", text.Count(found.Unknown, "node"))
			}
			if len(found.Found) == 0 {
				return exit.Unmatched("no result used %s; searched %s of %s", args[0], text.Count(found.Verdicts, "result"), text.Count(found.Runs, "run"))
			}
			if a.flags.json {
				return a.writeJSON(describe.UsesObjectOf(args[0], found))
			}
			view.Table(a.io.Out, []string{"result", "is", "score", "now", "runs", "latest", "used by", "as"}, describe.Uses(found), a.page())
			_, err = fmt.Fprintf(a.io.Out, "%s of %s in %s used it\n", text.Thousands(len(found.Found)), text.Count(found.Verdicts, "result"), text.Count(found.Runs, "run"))
			return err
		})
	cmd.Args = arguments(1, 1, "what to find")
	return cmd
}
