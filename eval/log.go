package eval

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// Log returns the output of a node's work, or of its set-up commands, in a recorded run. A node is named by its
// address, a selector that matches one node, or the name of a cell, which means its node with output. For a
// cached node, it returns the log of the run that executed it.
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

// LastFailure returns the first failure of a recorded run in the order of attention: what could not be judged, then what
// failed, each in the order of results. It is the address of a node, or the name of a checkpoint.
func LastFailure(o Options, run string) (name string, err error) {
	r, err := Results(o, run)
	if err != nil {
		return "", err
	}
	worst := verdict.OutcomeSkipped
	see := func(at string, outcome verdict.Outcome) {
		if outcome.Rank() > worst.Rank() && outcome != verdict.OutcomeNotReached {
			name, worst = at, outcome
		}
	}
	for i := range r.Tasks {
		if t := &r.Tasks[i]; t.Outcome != string(event.Blocked) {
			see(t.Address(), t.Verdict())
		}
	}
	for i := range r.Cells {
		for _, c := range r.Cells[i].Checkpoints {
			at := plan.ResultCell(&r.Cells[i]).At(c.Name).String()
			if c.Culprit != nil {
				at = c.Culprit.Addr
			}
			see(at, c.Verdict().Outcome())
		}
	}
	if name == "" {
		return "", exit.With(exit.Usage, fmt.Errorf("run %s has no failure; name a node", r.Run))
	}
	return name, nil
}

// withRecorded calls use with a node of a recorded run and the stores that contain its outputs. If a name
// matches several nodes, the one with the highest rank is used.
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
