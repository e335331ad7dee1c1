package eval

import (
	"cmp"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// lastRuns limits the number of searched runs.
const lastRuns = 100

// recorded returns the last recorded results of the configuration's checkpoints and tasks, which it reads once.
func (x *execution) recorded() *history.Last {
	if x.last == nil {
		ids, _ := event.Runs(x.call.records) // without run ids, nothing is recorded
		slices.Reverse(ids)
		tasks := map[string]bool{}
		for _, t := range x.call.Config.Tasks {
			tasks[t.Name] = true
		}
		x.last = history.FindLast(x.call.records, ids[:min(len(ids), lastRuns)], plan.Checkpoints(x.call.Config), tasks)
		x.damaged = cmp.Or(x.last.Damaged, x.damaged)
	}
	return x.last
}

// Results reads the results of a recorded run, given by its id, a unique part of it, or "latest". It evaluates
// nothing. The error wraps event.ErrNoRuns if there are no records.
func Results(o Options, run string) (*report.Results, error) {
	results, err := history.Results(o.Records(), run)
	if err != nil {
		return nil, exit.Past(err)
	}
	return results, nil
}
