package eval

import (
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// lastResult holds the last recorded result of a checkpoint.
type lastResult struct {
	report.Checkpoint
	run string // run that judged it last, or served its verdict
}

// lastRuns limits the number of searched runs.
const lastRuns = 100

// lastResults searches the records of runs, the latest first, until every checkpoint of the configuration is
// found. A last result can be for other inputs: it is only shown with a stale checkpoint, and never counts as
// its verdict.
func (x *execution) lastResults() map[plan.CellID]lastResult {
	last, files := map[plan.CellID]lastResult{}, map[string]bool{}
	ids, err := event.Runs(x.call.records)
	if err != nil {
		return last
	}
	missing := checkpointsOf(x.call.Config)
	for at, id := range slices.Backward(ids) {
		if len(missing) == 0 || at < len(ids)-lastRuns {
			break
		}
		run := event.OpenRun(x.call.records, id)
		cells, err := history.Cells(x.call.records, run, files)
		if err != nil { // the run ended without results, or its record is damaged
			errors.As(err, &x.damaged)
			continue
		}
		end, ended, err := run.End()
		addLast(last, cells, id, err != nil || !ended || end.Interrupted > 0)
		for i := range cells {
			for _, c := range cells[i].Listed() {
				key := plan.ResultCell(&cells[i]).At(c.Name)
				if _, found := last[key]; found {
					delete(missing, key)
				}
			}
		}
	}
	return last
}

// checkpointsOf returns the checkpoints of a configuration's cells.
func checkpointsOf(cfg *lang.Config) map[plan.CellID]bool {
	all := map[plan.CellID]bool{}
	plan.EachCell(cfg, func(c lang.Cell) {
		id := plan.CellID{Problem: c.Solution.Problem.Name, Solution: c.Solution.Name, Backend: c.Backend.Addr(), Repeat: c.Repeat}
		if len(c.Solution.Problem.Invalid) > 0 {
			all[id] = true
			return
		}
		for _, answer := range c.Solution.Checkpoints {
			all[id.At(answer.Checkpoint.Name)] = true
		}
	})
	return all
}

// addLast adds results of a run for checkpoints that have none yet. It ignores what an interrupted run did not
// begin.
func addLast(last map[plan.CellID]lastResult, cells []report.Cell, run string, interrupted bool) {
	for i := range cells {
		for _, c := range cells[i].Listed() {
			key := plan.ResultCell(&cells[i]).At(c.Name)
			if _, known := last[key]; !known && !(interrupted && c.Class == verdict.NotRun) {
				last[key] = lastResult{Checkpoint: c, run: run}
			}
		}
	}
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
