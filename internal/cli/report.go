package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/report/page"
	"github.com/fevalgraph/fevalgraph/report/text"
)

func (a *app) reportCommand() *cobra.Command {
	output := "report.html"
	cmd := command("report [RUN...]", "Write runs as a page for a browser",
		`Report writes a page that shows a run in a browser: verdicts and what changed,
a matrix of problems and solutions, a table of all cells with filters, each cell
with its tests, logs, manifests and why it ran, a leaderboard, and a timeline.
It is about the last RUN, by default the latest, and compares that with the
others, by default the four before it.

The page is one file that needs no server and no network. What exceeds 8 MiB is
in a directory beside it, from which the page loads what it shows.`,
		`  fevalgraph report
  fevalgraph report -o public
  fevalgraph report 20260102-150405-ab12cd latest -o changes.html`,
		func(cmd *cobra.Command, args []string) error { return a.runReport(cmd.Context(), args, output) })
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVarP(&output, "output", "o", output, "what to write: a `FILE` whose name ends in .html, or a directory")
	return cmd
}

func (a *app) runReport(ctx context.Context, runs []string, output string) error {
	return eval.Report(ctx, a.options(), runs, func(p *page.Page) error {
		w, err := p.Write(output)
		if err != nil {
			return err
		}
		if a.flags.json {
			return a.writeJSON(map[string]any{"schema": 1, "run": p.Runs[len(p.Runs)-1].ID, "file": w.File, "data": w.Data, "bytes": w.Bytes})
		}
		size := text.Bytes(w.Bytes)
		if w.Data != "" {
			size += " with " + text.Line(w.Data, 0) + ", which it needs"
		}
		_, err = fmt.Fprintf(a.io.Out, "wrote %s (%s)\n", text.Line(w.File, 0), size)
		return err
	})
}
