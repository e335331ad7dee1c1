package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/page"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// reportFlags are those of report.
type reportFlags struct {
	output string
	serve  bool
	port   int
}

func (a *app) reportCommand() *cobra.Command {
	f := reportFlags{output: "report.html"}
	cmd := command("report [RUN...]", "Write results as a page for a browser",
		`Report writes a page that shows results in a browser: verdicts and what changed,
a matrix of problems and solutions, a table of all cells with filters, each cell
with its tests, logs, manifests and why it ran, a leaderboard, and a timeline.
It is about the last RUN, compared with the others. Without any it is about the
last known results of all cells, compared with the last four runs.

The page is one file that needs no server and no network. What exceeds 8 MiB is
in a directory beside it, from which the page loads what it shows.

With --serve, nothing is written: the page is served to browsers on this machine
that know its address, which is printed, and follows a run that goes on.`,
		`  fevalgraph report
  fevalgraph report -o public
  fevalgraph report 20260102-150405-ab12cd latest -o changes.html
  fevalgraph report --serve`,
		func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("port") && !f.serve || cmd.Flags().Changed("output") && f.serve {
				return usageError(cmd, errors.New("--port is for --serve, and --output for a report that is written"))
			}
			if f.serve {
				return a.serveReport(cmd.Context(), args, f.port)
			}
			return a.runReport(cmd.Context(), args, f.output)
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVarP(&f.output, "output", "o", f.output, "what to write: a `FILE` whose name ends in .html, or a directory")
	cmd.Flags().BoolVar(&f.serve, "serve", false, "serve the page on 127.0.0.1, and follow a run that goes on")
	cmd.Flags().IntVar(&f.port, "port", 0, "with --serve: the port; 0 is one that is free")
	return cmd
}

func (a *app) runReport(ctx context.Context, runs []string, output string) error {
	return eval.Report(ctx, a.options(), runs, func(p *page.Page) error {
		w, err := p.Write(output)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		if a.flags.json {
			return a.writeJSON(pageObject{1, p.Runs[len(p.Runs)-1].ID, w.File, w.Data, w.Bytes})
		}
		size := text.Bytes(w.Bytes)
		if w.Data != "" {
			size += " with " + text.Line(w.Data, 0) + ", which it needs"
		}
		_, err = fmt.Fprintf(a.io.Out, "wrote %s (%s)\n", text.Line(w.File, 0), size)
		return err
	})
}

// followed is what a server of reports shows.
type followed struct {
	options eval.Options
	runs    []string
}

func (s followed) Page(ctx context.Context, show func(*page.Page) error) error {
	return eval.Report(ctx, s.options, s.runs, show)
}

func (s followed) Latest() (*event.Run, error) { return eval.LatestRun(s.options) }

func (a *app) serveReport(ctx context.Context, runs []string, port int) error {
	server, err := page.NewServer(followed{a.options(), runs}, port)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if a.flags.json {
		err = a.writeJSON(serverObject{1, server.URL()})
	} else {
		_, err = fmt.Fprintf(a.io.Out, "serving %s until it is interrupted\n", server.URL())
	}
	if err != nil {
		return err
	}
	return server.Serve(ctx)
}
