package eval

import (
	"context"
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// Log returns what a node's work printed in a recorded run, or what its set-up
// commands did. A node is named by its address, by a selector that fits just one, or by
// the name of a cell, of which it is the node that printed something;
// one that was cached has the log of the run that made it.
func Log(ctx context.Context, o Options, arg, run string, setup bool) ([]byte, error) {
	past, err := event.FindRun(o.StateDir(), run)
	if err != nil {
		return nil, fail(Usage, err)
	}
	done, err := pastNode(o.StateDir(), past, arg, func(done event.NodeDone) bool { return done.Log != "" || done.State == event.Broken })
	if err != nil {
		return nil, err
	}
	if done.State == event.Broken {
		content, err := past.Log(done.Addr)
		var damaged *event.DamagedError
		switch {
		case errors.As(err, &damaged):
			return nil, fail(NotJudged, err)
		case err == nil:
			return content, nil
		}
	}
	switch {
	case done.Log != "":
		return o.storedLog(ctx, done, setup)
	case done.Message != "":
		return []byte(done.Message + "\n"), nil
	}
	return nil, fail(Usage, fmt.Errorf("%s printed nothing in run %s (%s)", done.Addr, past.ID, done.State))
}

func (o *Options) storedLog(ctx context.Context, done *event.NodeDone, setup bool) ([]byte, error) {
	disk, err := o.pastStore()
	if err != nil {
		return nil, err
	}
	digest, err := cache.ParseDigest(done.Log)
	if err != nil {
		return nil, fail(NotJudged, err)
	}
	if setup {
		key, err := cache.ParseKey(done.Key)
		if err != nil {
			return nil, fail(NotJudged, err)
		}
		record, err := disk.Record(ctx, key)
		if err != nil || record == nil {
			return nil, fail(Usage, fmt.Errorf("the record of %s is no longer in the store", done.Addr))
		}
		out, ok := record.Output("setup")
		if !ok {
			return nil, fail(Usage, fmt.Errorf("%s ran no set-up commands", done.Addr))
		}
		digest = out.Digest
	}
	content, err := cache.ReadBlob(ctx, disk, digest, -1)
	var missing *cache.MissingError
	if errors.As(err, &missing) {
		return nil, fail(Usage, fmt.Errorf("the log of %s is no longer in the store; `fevalgraph run --force '%s'` makes it again", done.Addr, done.Addr))
	}
	if err != nil {
		return nil, fail(NotJudged, err)
	}
	return content, nil
}

// pastStore reads what any run of this project stored: in the shared store, or,
// when it might not change that, in the project's own.
func (o *Options) pastStore() (cache.Store, error) {
	dir, err := o.cacheDir(o.configured())
	if err != nil {
		return nil, err
	}
	shared, err := cache.OpenDisk(dir, cache.Options{ReadOnly: true})
	if err != nil {
		return nil, fail(NotJudged, err)
	}
	own, err := cache.OpenDisk(ownStoreDir(o.StateDir()), cache.Options{ReadOnly: true})
	if err != nil {
		return nil, fail(NotJudged, err)
	}
	return &cache.Layered{Upper: own, Lower: shared}, nil
}
