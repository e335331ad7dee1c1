package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/event"
)

func (a *app) cleanCommand() *cobra.Command {
	var keepRuns int
	var all bool
	cmd := command("clean", "Remove what this project keeps on disk",
		`Clean ends what crashed runs left and removes old run records. With --all it
removes the project's whole state directory: records, build log, file index. The
shared content store is not touched; see cache gc.`,
		`  fevalgraph clean --keep-runs 10
  fevalgraph clean --all`,
		func(cmd *cobra.Command, args []string) error { return a.runClean(cmd.Context(), keepRuns, all) })
	cmd.Flags().IntVar(&keepRuns, "keep-runs", 20, "run records to keep")
	cmd.Flags().BoolVar(&all, "all", false, "remove everything of this project's")
	return cmd
}

func (a *app) runClean(ctx context.Context, keepRuns int, all bool) error {
	state := a.projectState()
	reaped, err := backend.Reap(ctx, filepath.Join(state, "sessions"), a.reapers())
	if err != nil {
		return exit(exitNotJudged, err)
	}
	if all {
		if err := os.RemoveAll(state); err != nil {
			return exit(exitNotJudged, err)
		}
		fmt.Fprintf(a.io.Out, "removed %s\n", state)
		return nil
	}
	runs, err := event.Runs(state)
	if err != nil {
		return exit(exitNotJudged, err)
	}
	removed := 0
	for len(runs)-removed > max(keepRuns, 0) {
		if err := os.RemoveAll(filepath.Join(state, "runs", runs[removed])); err != nil {
			return exit(exitNotJudged, err)
		}
		removed++
	}
	fmt.Fprintf(a.io.Out, "ended %d leftover sessions, removed %d of %d run records\n", len(reaped), removed, len(runs))
	return nil
}
