package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/upkeep"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
)

func (a *app) cleanCommand() *cobra.Command {
	var keepRuns int
	var all, containers, clusters, dryRun bool
	cmd := command("clean", "Remove the files of this project",
		`Clean ends what crashed runs left, and removes old run records. With --all it
removes the project's whole state directory: records, partitions, file index. It
does not touch the shared content store; see cache gc.

With --containers it removes, from the Docker daemon in use, every container
with the project's label that belongs to no living run, even if it was kept on
purpose, and the images that contain uv's downloads or were built from a
Dockerfile.

With --clusters it ends the clusters of machines of this project that no living
run uses, even those that are kept for another run.`,
		`  fevalgraph clean --keep-runs 10
  fevalgraph clean --containers
  fevalgraph clean --clusters
  fevalgraph clean --all`,
		func(cmd *cobra.Command, args []string) error {
			if dryRun && containers {
				return usageError(cmd, errors.New("--containers has no dry run: see `docker ps` and `docker images`"))
			}
			return a.runClean(cmd.Context(), upkeep.CleanRequest{KeepRuns: keepRuns, All: all, Containers: containers, Clusters: clusters, DryRun: dryRun})
		})
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "remove nothing, only show what would be removed")
	cmd.Flags().IntVar(&keepRuns, "keep-runs", 20, "run records to keep")
	cmd.Flags().BoolVar(&containers, "containers", false, "remove the project's containers and images from the Docker daemon")
	cmd.Flags().BoolVar(&clusters, "clusters", false, "end the project's clusters of machines")
	cmd.Flags().BoolVar(&all, "all", false, "remove all files of this project")
	return cmd
}

func (a *app) runClean(ctx context.Context, r upkeep.CleanRequest) error {
	c, err := upkeep.Clean(ctx, a.options(), r)
	io.WriteString(a.io.Out, describe.Cleaned(c, r.DryRun, err == nil))
	return err
}
