package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/report/text"
)

func (a *app) lockCommand() *cobra.Command {
	var how eval.LockOptions
	cmd := command("lock", "Pin the requirements of every problem",
		`Lock resolves requirements that `+eval.LockFile+` does not contain. Keep
the file with the configuration: it is part of every key. With --upgrade all
requirements are resolved again.

Unused requirements stay: other variables may need them. --prune removes and
lists them, unless a problem is invalid: its requirements are unknown.`,
		`  fevalgraph lock
  fevalgraph lock --upgrade
  fevalgraph lock --prune`,
		func(cmd *cobra.Command, args []string) error { return a.runLock(cmd.Context(), how) })
	cmd.Flags().BoolVarP(&how.DryRun, "dry-run", "n", false, "change nothing, only show what would change")
	cmd.Flags().BoolVar(&how.Upgrade, "upgrade", false, "resolve everything again, to the newest versions")
	cmd.Flags().BoolVar(&how.Prune, "prune", false, "drop unused requirements")
	return cmd
}

func (a *app) runLock(ctx context.Context, how eval.LockOptions) error {
	l, err := eval.Lock(ctx, a.options(), how)
	if err != nil {
		return err
	}
	if !a.flags.quiet {
		drops, counts := "dropped", "%s: %s in use, %d resolved, %d dropped"
		if how.DryRun {
			drops, counts = "would drop", "%s: %s in use, %d to resolve, %d to drop"
		}
		for _, set := range l.Dropped {
			fmt.Fprintf(a.io.Out, "%s %s\n", drops, text.Line(set, 0))
		}
		said := fmt.Sprintf(counts, eval.LockFile, text.Count(l.Used, "set"), l.Resolved, len(l.Dropped))
		if l.Unused > 0 {
			said += fmt.Sprintf(", %d not in use", l.Unused)
		}
		fmt.Fprintln(a.io.Out, said)
	}
	if len(l.Invalid) > 0 {
		return exit.With(exit.Usage, l.Invalid)
	}
	return nil
}
