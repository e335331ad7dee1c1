package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

func (a *app) logCommand() *cobra.Command {
	var run string
	var setup bool
	cmd := command("log ADDR", "Show the output of one node, of any past run",
		`Log prints what a node's work printed: pytest's own log for a pytest node, or what
a broken attempt said. A node that was cached in the run shows the log of the run
that made it.`,
		`  fevalgraph log 'pytest:kvstore/basic/reference@local.host'
  fevalgraph log 'pytest:kvstore/basic/*' --run 20260102`,
		func(cmd *cobra.Command, args []string) error { return a.showLog(cmd.Context(), args[0], run, setup) })
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().StringVar(&run, "run", "latest", "the run: its `ID`, a part of it, or latest")
	cmd.Flags().BoolVar(&setup, "setup", false, "show the set-up commands' output instead")
	return cmd
}

func (a *app) showLog(ctx context.Context, arg, name string, setup bool) error {
	state := a.projectState()
	run, err := event.FindRun(state, name)
	if err != nil {
		return exit(exitUsage, err)
	}
	done, err := a.pastNode(run, arg)
	if err != nil {
		return err
	}
	if done.State == event.Broken {
		content, err := run.Log(done.Addr)
		var damaged *event.DamagedError
		switch {
		case errors.As(err, &damaged):
			return exit(exitNotJudged, err)
		case err == nil:
			_, err = a.io.Out.Write(content)
			return err
		}
	}
	if done.Log == "" {
		if done.Message != "" {
			fmt.Fprintln(a.io.Out, done.Message)
			return nil
		}
		return exit(exitUsage, fmt.Errorf("%s printed nothing in run %s (%s)", done.Addr, run.ID, done.State))
	}
	return a.copyLog(ctx, done, setup)
}

func (a *app) copyLog(ctx context.Context, done *event.NodeDone, setup bool) error {
	disk, err := a.pastStore()
	if err != nil {
		return err
	}
	digest, err := cache.ParseDigest(done.Log)
	if err != nil {
		return exit(exitNotJudged, err)
	}
	if setup {
		key, err := cache.ParseKey(done.Key)
		if err != nil {
			return exit(exitNotJudged, err)
		}
		record, err := disk.Record(ctx, key)
		if err != nil || record == nil {
			return exit(exitUsage, fmt.Errorf("the record of %s is no longer in the store", done.Addr))
		}
		out, ok := record.Output("setup")
		if !ok {
			return exit(exitUsage, fmt.Errorf("%s ran no set-up commands", done.Addr))
		}
		digest = out.Digest
	}
	content, err := cache.ReadBlob(ctx, disk, digest, -1)
	var missing *cache.MissingError
	if errors.As(err, &missing) {
		return exit(exitUsage, fmt.Errorf("the log of %s is no longer in the store; `fevalgraph run --force '%s'` makes it again", done.Addr, done.Addr))
	}
	if err != nil {
		return exit(exitNotJudged, err)
	}
	_, err = a.io.Out.Write(content)
	return err
}

// pastStore reads what any run of this project stored: in the shared store, or,
// when it might not change that, in the project's own.
func (a *app) pastStore() (cache.Store, error) {
	dir, err := a.cacheDir(a.configuredCache())
	if err != nil {
		return nil, err
	}
	shared, err := cache.OpenDisk(dir, cache.Options{ReadOnly: true})
	if err != nil {
		return nil, exit(exitNotJudged, err)
	}
	own, err := cache.OpenDisk(ownStoreDir(a.projectState()), cache.Options{ReadOnly: true})
	if err != nil {
		return nil, exit(exitNotJudged, err)
	}
	return &cache.Layered{Upper: own, Lower: shared}, nil
}
