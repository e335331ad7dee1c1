package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/report/text"
)

func (a *app) runsCommand() *cobra.Command {
	limit := 20
	cmd := command("runs", "List the recorded runs",
		`Runs lists the recorded runs, the latest first: when each began, how long it
took, what it was asked for, and its verdicts. Their ids are what --run of other
commands takes, beside latest and latest~1.`,
		`  fevalgraph runs
  fevalgraph runs --limit 0 --json
  fevalgraph results --run latest~1`,
		func(*cobra.Command, []string) error { return a.runRuns(limit) })
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "how many are shown; 0 is all")
	return cmd
}

func (a *app) runRuns(limit int) error {
	if limit < 0 {
		return exit.With(exit.Usage, fmt.Errorf("--limit %d: want at least 0", limit))
	}
	all, err := history.Runs(a.options().StateDir(), limit)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.writeJSON(map[string]any{"schema": 1, "runs": orEmpty(all)})
	}
	grid := text.Grid{Header: []string{"run", "began", "took", "ran", "exit", "asked for", "verdicts"}, Width: columns(a.io.Out)}
	for _, r := range all {
		row := []string{text.Line(r.Run, 0), r.Start.Local().Format(time.DateTime), "-", "-", "-", text.Line(cmp.Or(r.Selection, "-"), 0), "ended without results"}
		if r.Start.IsZero() {
			row[1] = "-"
		}
		if r.Ended {
			row[2], row[3], row[4], row[6] = text.Duration(r.Seconds), fmt.Sprint(r.Executed), fmt.Sprint(r.Exit), cmp.Or(r.Verdicts, "-")
			if _, brief, ok := strings.Cut(r.Verdicts, ": "); ok { // without how many cells there were
				row[6] = brief
			}
		}
		row[6] = text.Line(row[6], 0)
		grid.Rows = append(grid.Rows, row)
	}
	grid.Spare = append(grid.Blank(5), 1, 2) // an id begins with the time, in UTC
	_, err = io.WriteString(a.io.Out, grid.Text())
	return err
}
