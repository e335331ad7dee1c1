package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) runsCommand() *cobra.Command {
	limit := 20
	cmd := command("runs", "List the recorded runs",
		`Runs lists the recorded runs, the latest first: the beginning, duration,
selection and verdicts of each. --run of other commands takes their ids, besides
latest and latest~1.`,
		`  fevalgraph runs
  fevalgraph runs --limit 0 --json
  fevalgraph runs prune --keep 20
  fevalgraph results --run latest~1`,
		func(*cobra.Command, []string) error { return a.runRuns(limit) })
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "number of runs to show; 0 means all")
	cmd.AddCommand(a.runsPruneCommand())
	return cmd
}

func (a *app) runsPruneCommand() *cobra.Command {
	var r upkeep.PruneRequest
	var age string
	cmd := command("prune", "Remove the records of old runs",
		`Prune removes the records of runs that are not among the last ones, or that are
older than an age; with both flags, those to which both apply. It keeps the
latest run, running ones, and runs with the last result of a checkpoint. The
store does not change, so that nothing runs again; see cache gc.`,
		`  fevalgraph runs prune --keep 20
  fevalgraph runs prune --older-than 30d --dry-run
  fevalgraph runs prune --keep 20 --older-than 30d`,
		func(cmd *cobra.Command, args []string) error {
			kept := cmd.Flags().Changed("keep")
			if !kept && age == "" {
				return usageError(cmd, errors.New("prune needs --keep, such as --keep 20, or --older-than, such as --older-than 30d, or both"))
			}
			var err error
			if age != "" {
				if r.OlderThan, err = parseAge(age); err != nil || r.OlderThan < 0 {
					return exit.With(exit.Usage, fmt.Errorf("--older-than %s: want an age such as 30d or 12h", age))
				}
			}
			if r.Keep < 1 && kept {
				return exit.With(exit.Usage, fmt.Errorf("--keep %d: want at least 1; the latest run always stays", r.Keep))
			}
			return a.runRunsPrune(cmd.Context(), r)
		})
	cmd.Flags().IntVar(&r.Keep, "keep", 0, "keep the last `N` runs")
	cmd.Flags().StringVar(&age, "older-than", "", "remove only runs that began longer ago than `AGE`, such as 30d or 12h")
	cmd.Flags().BoolVar(&r.DryRun, "dry-run", false, "remove nothing, only show what would be removed")
	return cmd
}

func (a *app) runRunsPrune(ctx context.Context, r upkeep.PruneRequest) error {
	p, err := upkeep.Prune(ctx, a.options(), r)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.writeJSON(prunedObject{1, p, r.DryRun})
	}
	verb := "removed"
	if r.DryRun {
		verb = "would remove"
	}
	if a.flags.verbose {
		for _, id := range p.Removed {
			fmt.Fprintf(a.io.Out, "%s %s\n", verb, text.Line(id, 0))
		}
	}
	fmt.Fprintf(a.io.Out, "%s %d of %s, %s\n", verb, len(p.Removed), text.Count(p.Runs, "run record"), text.Bytes(p.Bytes))
	if n := len(p.Needed); n > 0 {
		fmt.Fprintf(a.io.Out, "kept %s that contain the last results of some checkpoints or tasks, or are running\n", text.Count(n, "more"))
	}
	return nil
}

func (a *app) runRuns(limit int) error {
	if limit < 0 {
		return exit.With(exit.Usage, fmt.Errorf("--limit %d: want at least 0", limit))
	}
	all, err := history.Runs(a.options().Records(), limit)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.writeJSON(runsObject{1, view.OrEmpty(all)})
	}
	rows := make([]view.RunRow, len(all))
	for i, r := range all {
		rows[i] = view.RunRow(r)
	}
	return view.RunTable(a.io.Out, rows, a.page())
}
