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
	cmd := command("clean", "Remove what this project keeps on disk",
		`Clean ends what crashed runs left and removes old run records. With --all it
removes the project's whole state directory: records, partitions, file index.
The shared content store is not touched; see cache gc.

With --containers it removes, on the Docker daemon in use, every container that
carries the project's label and belongs to no living run, also those that were
kept on purpose, the images that hold what uv fetched, and those that were built
from a Dockerfile.

With --clusters it ends the clusters of machines that this project has and no
living run uses, also those that were kept for another run.`,
		`  fevalgraph clean --keep-runs 10
  fevalgraph clean --containers
  fevalgraph clean --clusters
  fevalgraph clean --all`,
		func(cmd *cobra.Command, args []string) error {
			if dryRun && containers {
				return usageError(cmd, errors.New("--containers has no dry run: `docker ps` and `docker images` list what there is"))
			}
			return a.runClean(cmd.Context(), upkeep.CleanRequest{KeepRuns: keepRuns, All: all, Containers: containers, Clusters: clusters, DryRun: dryRun})
		})
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "remove nothing, say what would be")
	cmd.Flags().IntVar(&keepRuns, "keep-runs", 20, "run records to keep")
	cmd.Flags().BoolVar(&containers, "containers", false, "remove the project's containers and images from the Docker daemon")
	cmd.Flags().BoolVar(&clusters, "clusters", false, "end the project's clusters of machines")
	cmd.Flags().BoolVar(&all, "all", false, "remove everything of this project's")
	return cmd
}

func (a *app) runClean(ctx context.Context, r upkeep.CleanRequest) error {
	c, err := upkeep.Clean(ctx, a.options(), r)
	io.WriteString(a.io.Out, describe.Cleaned(c, r.DryRun, err == nil))
	return err
}
