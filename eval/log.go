package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/event"
)

// Log returns what a node's work printed in a recorded run, or what its set-up
// commands did. A node is named by its address, by a selector that fits just one, or by
// the name of a cell, of which it is the node that printed something;
// one that was cached has the log of the run that made it.
func Log(ctx context.Context, o Options, arg, run string, setup bool) ([]byte, error) {
	var log []byte
	err := withRecorded(o, arg, run, func(done event.NodeDone) int {
		switch {
		case done.State == event.Broken, done.State == event.Failed:
			return 2
		case done.Log != "":
			return 1
		}
		return 0
	}, func(past *event.Run, done *event.NodeDone, store cache.Store) (err error) {
		if setup && done.Log != "" {
			log, err = history.SetupLog(ctx, store, done)
		} else {
			log, err = history.Log(ctx, store, past, done)
		}
		return err
	})
	return log, err
}

// withRecorded hands a node of a recorded run to use, with the stores that have its outputs. Of several
// nodes that a name can mean, the one with the highest rank is taken.
func withRecorded(o Options, arg, run string, rank func(event.NodeDone) int, use func(past *event.Run, done *event.NodeDone, store cache.Store) error) error {
	past, err := event.FindRun(o.Records(), run)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	done, err := history.Node(o.Records(), past, recordedName(o, arg), rank)
	if err != nil {
		return err
	}
	store, end, err := stores.Past(&o)
	if err != nil {
		return err
	}
	defer end()
	return use(past, done, store)
}
