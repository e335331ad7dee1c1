package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/tasks/judge"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
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
	if done.State == event.Broken {
		content, err := past.Log(done.Addr)
		var damaged *event.DamagedError
		switch {
		case errors.As(err, &damaged):
			return nil, exit.With(exit.NotJudged, err)
		case err == nil:
			return content, nil
		}
	}
	switch {
	case setup && done.Log != "":
		return setupLog(ctx, &o, done)
	case done.Kind == plan.KindRun && done.State != event.Broken && done.Key != "":
		return runLog(ctx, &o, done)
	case done.Log != "":
		return printed(ctx, &o, done)
	case done.Message != "":
		return []byte(done.Message + "\n"), nil
	}
	return nil, exit.With(exit.Usage, fmt.Errorf("%s printed nothing in run %s (%s)", done.Addr, past.ID, done.State))
}

// printed is what a node's work printed in the run that made it.
func printed(ctx context.Context, o *Options, done *event.NodeDone) ([]byte, error) {
	disk, end, err := pastStore(o)
	if err != nil {
		return nil, err
	}
	defer end()
	digest, err := cache.ParseDigest(done.Log)
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return readLog(ctx, disk, digest, done)
}

func setupLog(ctx context.Context, o *Options, done *event.NodeDone) ([]byte, error) {
	outputs, err := outputs(ctx, o, done, pytest.OutputSetup)
	if err != nil {
		return nil, err
	}
	said, ok := outputs[pytest.OutputSetup]
	if !ok {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s ran no set-up commands", done.Addr))
	}
	return said, nil
}

// runLog is what the program of a judge's case printed, and how it ended.
func runLog(ctx context.Context, o *Options, done *event.NodeDone) ([]byte, error) {
	outputs, err := outputs(ctx, o, done, judge.OutputStdout, judge.OutputExit, graph.LogOutput)
	if err != nil {
		return nil, err
	}
	log, err := judge.RunLog(outputs[judge.OutputStdout], outputs[graph.LogOutput], outputs[judge.OutputExit])
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return log, nil
}

// outputs are those of a node that have one of the names, from the store.
func outputs(ctx context.Context, o *Options, done *event.NodeDone, names ...string) (map[string][]byte, error) {
	disk, end, err := pastStore(o)
	if err != nil {
		return nil, err
	}
	defer end()
	key, err := cache.ParseKey(done.Key)
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	record, err := disk.Record(ctx, key)
	var foreign *cache.ForeignError
	if errors.As(err, &foreign) {
		return nil, logGone(done)
	}
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	if record == nil {
		return nil, logGone(done)
	}
	outputs := map[string][]byte{}
	for _, name := range names {
		if out, ok := record.Output(name); ok {
			if outputs[name], err = readLog(ctx, disk, out.Digest, done); err != nil {
				return nil, err
			}
		}
	}
	return outputs, nil
}

func readLog(ctx context.Context, store cache.Store, d cache.Digest, done *event.NodeDone) ([]byte, error) {
	content, err := cache.ReadBlob(ctx, store, d, -1)
	var missing *cache.MissingError
	if errors.As(err, &missing) {
		return nil, logGone(done)
	}
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return content, nil
}

func logGone(done *event.NodeDone) error {
	return exit.With(exit.Usage, fmt.Errorf("the log of %s is no longer in the store; `fevalgraph run --force '%s'` makes it again", done.Addr, done.Addr))
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
