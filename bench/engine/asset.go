package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/local"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// smallAsset is the comparison with a small asset.
const smallAsset = "a hundredth"

// number of cells that share the asset
const cells = 100

// compareAsset measures sessions that share an asset, to which each may write, and in which each writes new
// files.
func compareAsset(o options) (*figures, error) {
	if o.mib == 0 {
		o.mib = 500
	}
	dir, err := os.MkdirTemp(o.work, "asset-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	run := func(name string, bytes int64) (*contender, error) {
		source := filepath.Join(dir, name)
		if _, err := writeNoise(source, bytes, max(bytes/10, 1)); err != nil {
			return nil, err
		}
		return &contender{name: name, run: func(int) (time.Duration, *syscall.Rusage, error) {
			return command(dir, os.Environ(), self, "engine-asset", "-j", fmt.Sprint(o.jobs), "-store", source+".store", source)
		}}, nil
	}
	large, err := run("fevalgraph", int64(o.mib)<<20)
	if err != nil {
		return nil, err
	}
	small, err := run(smallAsset, int64(o.mib)<<20/100)
	if err != nil {
		return nil, err
	}
	f := &figures{name: o.name, nodes: cells, what: fmt.Sprintf("an asset of %d MiB, %d sessions at once", o.mib, o.jobs), contenders: []*contender{large, small}}
	return f, f.measure(o.runs, nil)
}

// assetChild runs a command that writes next to the files of the asset, in many sessions.
func assetChild(args []string) (err error) {
	flags := flag.NewFlagSet("engine-asset", flag.ExitOnError)
	dir := flags.String("store", "", "")
	jobs := flags.Int("j", runtime.NumCPU(), "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx := context.Background()
	store, err := cache.OpenDisk(*dir, cache.Options{})
	if err != nil {
		return err
	}
	states, err := cache.OpenFileIndex(filepath.Join(*dir, "files"), proof.Place{})
	if err != nil {
		return err
	}
	asset := tasks.NewMaterialize(tasks.Asset{Source: flags.Arg(0), Target: "asset"}, tasks.Sources{States: states, Store: store})
	if _, err := described(asset); err != nil {
		return err
	}
	if err := asset.PutFound(ctx, store); err != nil { // takes time in the first round only, which does not count
		return err
	}
	tree, err := cache.BuildTree(asset.Found())
	if err != nil {
		return err
	}
	if err := errors.Join(tree.Store(ctx, store), states.Save()); err != nil {
		return err
	}
	b := local.New(store, local.Options{Probes: local.Probes{Path: os.Getenv("PATH")}, Lifecycle: local.Lifecycle{Scratch: filepath.Join(*dir, "scratch")}, Confinement: local.Confinement{Isolation: "none"}})
	var group errgroup.Group
	group.SetLimit(*jobs)
	for range cells {
		group.Go(func() (err error) {
			session, err := b.Open(ctx, backend.Spec{Inputs: []backend.Input{{Path: ".", Tree: tree.Root}}})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, session.Close(ctx)) }()
			exit, err := session.Exec(ctx, backend.Command{Argv: []string{"sh", "-c", "test -s asset/0 && echo more >asset/own"}})
			if err == nil && exit.Code != 0 {
				err = fmt.Errorf("the command ended with %d", exit.Code)
			}
			return err
		})
	}
	return group.Wait()
}
