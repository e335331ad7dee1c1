package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
)

func (a *app) lockCommand() *cobra.Command {
	var upgrade bool
	cmd := command("lock", "Pin the requirements of every problem",
		`Lock resolves requirements that `+eval.LockFile+` does not hold yet and drops
those that nothing asks for. Keep the file with the configuration: it is part of
every key. With --upgrade everything is resolved again. While a problem is
invalid nothing is dropped: what it asks for is not known.`,
		`  fevalgraph lock
  fevalgraph lock --upgrade`,
		func(cmd *cobra.Command, args []string) error { return a.runLock(cmd.Context(), upgrade) })
	cmd.Flags().BoolVar(&upgrade, "upgrade", false, "resolve everything again, to the newest versions")
	return cmd
}

func (a *app) runLock(ctx context.Context, upgrade bool) error {
	l, err := eval.Lock(ctx, a.options(), upgrade)
	if err != nil {
		return err
	}
	if !a.flags.quiet {
		fmt.Fprintf(a.io.Out, "%s: %d sets in use, %d resolved, %d dropped\n", eval.LockFile, l.Used, l.Resolved, l.Dropped)
	}
	if len(l.Invalid) > 0 {
		return exit.With(exit.Usage, l.Invalid)
	}
	return nil
}
