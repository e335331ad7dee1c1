package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/event"
)

func (a *app) cleanCommand() *cobra.Command {
	var keepRuns int
	var all, containers bool
	cmd := command("clean", "Remove what this project keeps on disk",
		`Clean ends what crashed runs left and removes old run records. With --all it
removes the project's whole state directory: records, build log, file index. The
shared content store is not touched; see cache gc.

With --containers it removes, on the Docker daemon in use, every container that
carries the project's label and belongs to no living run, also those that were
kept on purpose, the images that hold what uv fetched, and those that were built
from a Dockerfile.`,
		`  fevalgraph clean --keep-runs 10
  fevalgraph clean --containers
  fevalgraph clean --all`,
		func(cmd *cobra.Command, args []string) error {
			return a.runClean(cmd.Context(), keepRuns, all, containers)
		})
	cmd.Flags().IntVar(&keepRuns, "keep-runs", 20, "run records to keep")
	cmd.Flags().BoolVar(&containers, "containers", false, "remove the project's containers and images from the Docker daemon")
	cmd.Flags().BoolVar(&all, "all", false, "remove everything of this project's")
	return cmd
}

func (a *app) runClean(ctx context.Context, keepRuns int, all, containers bool) error {
	state := a.projectState()
	reaped, err := backend.Reap(ctx, filepath.Join(state, "sessions"), a.reapers())
	if err != nil {
		return exit(exitNotJudged, err)
	}
	ended, left := sumReaped(reaped)
	if len(left) > 0 { // --all would forget them
		return exit(exitNotJudged, fmt.Errorf("ending leftover sessions: %w", errors.Join(left...)))
	}
	if containers {
		if err := a.cleanContainers(ctx, state); err != nil {
			return exit(exitNotJudged, err)
		}
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
	fmt.Fprintf(a.io.Out, "ended %d leftover sessions, removed %d of %d run records\n", ended, removed, len(runs))
	return nil
}
