package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
)

// Log returns what a node's work printed in a recorded run, or what its set-up
// commands did. A node is named by its address, by a selector that fits just one, or by
// the name of a cell, of which it is the node that printed something;
// one that was cached has the log of the run that made it.
func Log(ctx context.Context, o Options, arg, run string, setup bool) ([]byte, error) {
	past, err := event.FindRun(o.StateDir(), run)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	done, err := history.Node(o.StateDir(), past, arg, func(done event.NodeDone) int {
		switch {
		case done.State == event.Broken:
			return 2
		case done.Log != "":
			return 1
		}
		return 0
	})
	if err != nil {
		return nil, err
	}
	store, end, err := pastStore(&o)
	if err != nil {
		return nil, err
	}
	defer end()
	if setup && done.Log != "" {
		return history.SetupLog(ctx, store, done)
	}
	return history.Log(ctx, store, past, done)
}

// pastStore reads what any run of this project stored: in the shared store, or,
// when it might not change that, in the project's own; and what it was served by remote
// caches. The caller ends it.
func pastStore(o *Options) (_ cache.Store, end func(), err error) {
	cfg := o.Configured()
	dir, err := o.CacheDir(cfg)
	if err != nil {
		return nil, nil, err
	}
	signer, err := o.RecordKey(false)
	if err != nil {
		return nil, nil, err
	}
	shared, err := cache.OpenDisk(dir, cache.Options{ReadOnly: true, Signer: signer})
	if err != nil {
		return nil, nil, exit.With(exit.NotJudged, err)
	}
	own, err := cache.OpenDisk(options.OwnStoreDir(o.StateDir()), cache.Options{ReadOnly: true, Signer: signer})
	if err != nil {
		return nil, nil, exit.With(exit.NotJudged, err)
	}
	layers := &cache.Layered{Upper: own, Lower: []cache.Lower{shared}}
	if cfg == nil {
		return layers, func() {}, nil
	}
	p := newProject(o, cfg, Reading)
	p.secretEnv = o.Getenv
	return layers, func() { p.Close() }, p.openRemotes(layers)
}
