package eval

import (
	"context"

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
	past, err := event.FindRun(o.Records(), run)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	done, err := history.Node(o.Records(), past, recordedName(o, arg), func(done event.NodeDone) int {
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
	store, end, err := stores.Past(&o)
	if err != nil {
		return nil, err
	}
	defer end()
	if setup && done.Log != "" {
		return history.SetupLog(ctx, store, done)
	}
	return history.Log(ctx, store, past, done)
}
