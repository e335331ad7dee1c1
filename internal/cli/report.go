package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report/page"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// reportFormats lists the formats of report: a page, or its figures.
var reportFormats = []string{"html", "svg"}

// reportFlags are the flags of report.
type reportFlags struct {
	logFlags
	output   string
	format   string
	withhold []string
	serve    bool
	port     int
}

// withheldFromReport lists what a page can omit.
var withheldFromReport = []string{"sources"}

func (a *app) reportCommand() *cobra.Command {
	f := reportFlags{format: "html"}
	cmd := command("report [RUN...] | FILE... [SELECTOR...]", "Write results as a page for a browser",
		`Report writes a page that shows results in a browser: a ranking with intervals,
changes by their causes, a matrix of problems and solutions, figures, a table of
all cells with filters, each cell with its tests, source, logs, manifests and
causes, and a timeline. It is about the last RUN, compared with the others.
Without arguments it is about the last known results of all cells, compared with
the last four runs. It can also be about FILES of other programs, or directories
of them.

The page is one file that needs no server and no network. What exceeds 8 MiB is
in a directory next to it, from which the page loads what it shows.

With --format svg, the figures of the page are written into a directory without
a browser, each with its data as CSV.

The page has the source of submissions, and lines of the tests that they fail:
--withhold sources omits these, for publishing the page.

With --serve, nothing is written: the page is served to browsers on this machine
that know its address, which is printed, and follows a running run.`,
		`  fevalgraph report
  fevalgraph report -o public --withhold sources
  fevalgraph report --format svg -o figures
  fevalgraph report 20260102-150405-ab12cd latest -o changes.html
  fevalgraph report logs/a.eval logs/b.eval
  fevalgraph report --serve`,
		func(cmd *cobra.Command, args []string) error {
			a.idle.Store(true)
			if cmd.Flags().Changed("port") && !f.serve || (cmd.Flags().Changed("output") || cmd.Flags().Changed("withhold")) && f.serve {
				return usageError(cmd, errors.New("--port requires --serve; --output and --withhold exclude it"))
			}
			if !slices.Contains(reportFormats, f.format) {
				return exit.With(exit.Usage, text.Unknown("format", f.format, reportFormats))
			}
			if f.serve && f.format != "html" {
				return usageError(cmd, errors.New("--serve requires --format html"))
			}
			for _, one := range f.withhold {
				if !slices.Contains(withheldFromReport, one) {
					return exit.With(exit.Usage, text.Unknown("content to withhold", one, withheldFromReport))
				}
			}
			gather, err := a.reportOf(cmd, &f.logFlags, args)
			switch {
			case err != nil:
				return err
			case f.serve:
				return a.serveReport(cmd.Context(), args, f.port)
			case f.format == "svg":
				const usual = "figures"
				if err := page.CheckDirectory(usual); f.output == "" && err != nil {
					return exit.With(exit.Usage, err)
				}
				return a.writeFigures(cmd.Context(), gather, cmp.Or(f.output, usual))
			}
			return a.runReport(cmd.Context(), gather, cmp.Or(f.output, "report.html"), len(f.withhold) > 0)
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "output: a `FILE` whose name ends in .html, or a directory (default: report.html, or figures)")
	cmd.Flags().StringVar(&f.format, "format", f.format, strings.Join(reportFormats, ", "))
	cmd.Flags().StringSliceVar(&f.withhold, "withhold", nil, "omit `CONTENT`: "+strings.Join(withheldFromReport, ", "))
	f.logFlags.add(cmd, a)
	cmd.Flags().BoolVar(&f.serve, "serve", false, "serve the page on 127.0.0.1, and follow a running run")
	cmd.Flags().IntVar(&f.port, "port", 0, "with --serve: the port; 0 chooses a free one")
	return cmd
}

func (a *app) runReport(ctx context.Context, gather pageSource, output string, withoutSources bool) error {
	return gather(ctx, func(p *page.Page) error {
		if withoutSources {
			p.Sources = nil
		}
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

// writeFigures writes the figures of a report to a directory.
func (a *app) writeFigures(ctx context.Context, gather pageSource, dir string) error {
	return gather(ctx, func(p *page.Page) error {
		files, err := p.WriteFigures(dir)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		if a.flags.json {
			return a.writeJSON(figuresObject{1, p.Runs[len(p.Runs)-1].ID, dir, files})
		}
		for _, file := range files {
			if _, err := fmt.Fprintln(a.io.Out, text.Line(filepath.Join(dir, file), 0)); err != nil {
				return err
			}
		}
		return nil
	})
}

// serverSource is the source of a report server.
type serverSource struct {
	options eval.Options
	runs    []string
}

func (s serverSource) Page(ctx context.Context, show func(*page.Page) error) error {
	return eval.Report(ctx, s.options, s.runs, show)
}

func (s serverSource) Latest() (*event.Run, error) { return eval.LatestRun(s.options) }

func (a *app) serveReport(ctx context.Context, runs []string, port int) error {
	server, err := page.NewServer(serverSource{a.options(), runs}, port)
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
