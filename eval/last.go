package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// lastResult is the last known result of a checkpoint.
type lastResult struct {
	report.Checkpoint
	cell *report.Cell // the result that had it; nil when only the build log has one
	run  string       // in which the checkpoint was last judged, or its verdict served
}

// lastRuns is how many runs are searched for the last result of a checkpoint, beside
// what the build log has.
const lastRuns = 100

// lastResults are the last known results of the configuration's checkpoints: those of
// the latest run that has them, or what a later run that was killed had judged already.
func (p *Project) lastResults(ctx context.Context) map[plan.CellID]lastResult {
	last := p.recordedResults()
	for at := range p.parts {
		part := &p.parts[at]
		if part.facts == nil {
			continue
		}
		cells, err := p.partitions().Results(part.File)
		if err != nil {
			continue // it was whole a moment ago; the next run decides about it
		}
		addLast(last, cells, part.facts.Run, false)
	}
	if p.Plan == nil {
		return last
	}
	for _, cell := range p.Plan.Cells {
		for i := range cell.Checkpoints {
			cc := &cell.Checkpoints[i]
			key := cell.ID().At(cc.Checkpoint.Name)
			known := last[key]
			if c, run, ok := p.storedResult(ctx, cell, cc, known); ok {
				last[key] = lastResult{Checkpoint: c, cell: known.cell, run: run}
			}
		}
	}
	return last
}

// recordedResults searches the records of runs, the latest first, until every checkpoint
// of the configuration is found.
func (p *Project) recordedResults() map[plan.CellID]lastResult {
	last, files := map[plan.CellID]lastResult{}, map[string]bool{}
	ids, err := event.Runs(p.state)
	if err != nil {
		return last
	}
	missing := p.checkpoints()
	for at, id := range slices.Backward(ids) {
		if len(missing) == 0 || at < len(ids)-lastRuns {
			break
		}
		run := event.OpenRun(p.state, id)
		cells, err := history.Cells(p.state, run, files)
		if err != nil { // it ended without results, or is damaged
			errors.As(err, &p.damaged)
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

// checkpoints are those of the configuration's cells.
func (p *Project) checkpoints() map[plan.CellID]bool {
	all := map[plan.CellID]bool{}
	plan.EachCell(p.Config, func(c lang.Cell) {
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

// addLast adds results of a run that nothing is known about. What a run that was
// interrupted never began is no result.
func addLast(last map[plan.CellID]lastResult, cells []report.Cell, run string, interrupted bool) {
	for i := range cells {
		for _, c := range cells[i].Listed() {
			key := plan.ResultCell(&cells[i]).At(c.Name)
			if _, known := last[key]; !known && !(interrupted && c.Class == verdict.NotRun) {
				last[key] = lastResult{Checkpoint: c, cell: &cells[i], run: run}
			}
		}
	}
}

// storedResult is the result of a checkpoint by the build log, if a run after the one
// of the known result made that. What broke after its last answer has been served by no run
// since, or the log would not say so; a record that says so, too, says more.
func (p *Project) storedResult(ctx context.Context, cell *plan.Cell, cc *plan.CellCheckpoint, known lastResult) (c report.Checkpoint, run string, ok bool) {
	for _, id := range p.Plan.GradingNodes(cell, cc) {
		if e, ok := p.log.Get(p.Plan.Graph.Node(id).Addr); ok && e.Broken != "" && (known.run == "" || known.Class.Status() != verdict.Broken) {
			return report.Checkpoint{Name: cc.Checkpoint.Name, Class: verdict.NotJudged, Message: &e.Broken}, cmp.Or(known.run, e.Run), true
		}
	}
	entry, ok := p.log.Get(p.Plan.Graph.Node(cc.Aggregate).Addr)
	var v verdict.Checkpoint
	if !ok || !laterRun(entry.Run, known.run) || !p.readLogged(ctx, cc.Aggregate, tasks.ResultOutput, &v) {
		return report.Checkpoint{}, "", false
	}
	var m verdict.Measurements
	p.readLogged(ctx, cc.Measured, tasks.MeasurementsOutput, &m) // without it, the verdict is what it is
	c = report.NewCheckpoint(&v, &m)
	for _, id := range cc.Figures {
		p.readLogged(ctx, id, command.OutputFigures, &c.Figures) // which adds to the others
	}
	return c, entry.Run, true
}

// readLogged decodes an output of a node's last answer, and reports whether it was there.
func (p *Project) readLogged(ctx context.Context, id graph.ID, output string, into any) bool {
	entry, _ := p.log.Get(p.Plan.Graph.Node(id).Addr)
	at := slices.IndexFunc(entry.Outputs, func(o cache.Output) bool { return o.Name == output })
	if at < 0 {
		return false
	}
	content, err := cache.ReadBlob(ctx, p.stores.Store, entry.Outputs[at].Digest, -1)
	return err == nil && json.Unmarshal(content, into) == nil
}

// laterRun reports whether a run began after another, by the second; their ids
// begin with that. Any run is later than none.
func laterRun(id, other string) bool {
	second := func(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }
	return other == "" || second(id) > second(other)
}

// Results reads the results of a recorded run: its id, a part of it that no other
// run has, or "latest". Nothing is evaluated. The error wraps event.ErrNoRuns when
// nothing was recorded.
func Results(o Options, run string) (*report.Results, error) {
	results, err := history.Results(o.StateDir(), run)
	if err != nil {
		return nil, exit.Past(err)
	}
	return results, nil
}
