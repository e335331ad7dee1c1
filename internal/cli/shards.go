package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
)

// shardFlags are the flags that divide a plan.
type shardFlags struct {
	shards string
	target time.Duration
}

func (f *shardFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.shards, "shards", "", "divide the stale cells into `N` shards, or auto for as many as --target needs")
	cmd.Flags().DurationVar(&f.target, "target", 10*time.Minute, "with --shards auto: target duration of a shard")
	cmd.MarkFlagsMutuallyExclusive("shards", "check")
}

// autoShards requests as many shards as needed.
const autoShards = "auto"

func (a *app) runDivide(ctx context.Context, r eval.Request, f shardFlags) error {
	count := 0
	if f.shards != autoShards {
		var err error
		if count, err = strconv.Atoi(f.shards); err != nil || count < 1 {
			return exit.With(exit.Usage, fmt.Errorf("--shards %s: want a number above 0, or %s", f.shards, autoShards))
		}
	}
	if f.target <= 0 {
		return exit.With(exit.Usage, fmt.Errorf("--target %s: want a duration above 0, such as 10m", f.target))
	}
	d, err := eval.Divide(ctx, a.options(), r, count, f.target)
	if err != nil {
		return err
	}
	switch {
	case a.flags.json:
		return a.writeJSON(d)
	case a.flags.quiet:
		return nil
	}
	_, err = io.WriteString(a.io.Out, describe.Division(d))
	return err
}
