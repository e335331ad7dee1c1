package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) statusCommand() *cobra.Command {
	var pairs string
	var watch bool
	cmd := command("status [SELECTOR...]", "Show last known verdicts, and whether they are up to date",
		`Status shows every checkpoint of every cell with its last known verdict, the run
that judged it or served it last, and whether a run would judge it again. With
--watch it repeats that when the output can have changed: when a file that was
read changes, and when a run ends.`,
		`  fevalgraph status
  fevalgraph status problem=kvstore
  fevalgraph status --watch`,
		func(cmd *cobra.Command, args []string) error {
			ctx, s := cmd.Context(), eval.Selection{Targets: args, Pairs: pairs}
			if !watch {
				return a.runStatus(func() ([]eval.CheckpointStatus, []eval.Decision, error) { return eval.Status(ctx, a.options(), s) })
			}
			w := eval.NewWatch(a.options())
			return a.whenever(ctx, w, func() error {
				return a.runStatus(func() ([]eval.CheckpointStatus, []eval.Decision, error) { return w.Status(ctx, s) })
			})
		})
	cmd.Args = cobra.ArbitraryArgs
	addPairs(cmd, &pairs, "keep only the solutions that a `FILE` of pairs names")
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "repeat when the output can have changed, until interrupted")
	return cmd
}

// runStatus prints what find returns.
func (a *app) runStatus(find func() ([]eval.CheckpointStatus, []eval.Decision, error)) error {
	all, tasks, err := find()
	if err != nil {
		return err
	}
	var rows []view.StatusRow
	for _, one := range all {
		row := view.StatusRow{Problem: one.Cell.Problem, Checkpoint: one.Cell.Checkpoint, Solution: one.Cell.Solution, Backend: one.Cell.Backend,
			Run: one.Run, State: one.State, Cause: one.Cause}
		if one.Last != nil {
			row.Judged(one.Last)
		}
		rows = append(rows, row)
	}
	clusters, err := upkeep.Clusters(a.options())
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.writeJSON(statusObject{1, view.OrEmpty(rows), tasks, clusters})
	}
	if len(rows) > 0 || len(tasks) == 0 {
		view.StatusTable(a.io.Out, rows, a.page())
	}
	for _, t := range tasks {
		fmt.Fprintf(a.io.Out, "%s %s: %s\n", t.Addr, t.State, text.Line(t.Cause, 0))
	}
	a.showClusters(clusters)
	return nil
}

// showClusters lists the project's clusters of machines, if it has any.
func (a *app) showClusters(clusters []kind.Cluster) {
	for _, c := range clusters {
		fmt.Fprintf(a.io.Out, "cluster %s\n", text.Line(c.String(), 0))
	}
}
