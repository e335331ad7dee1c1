package eval

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// lastResults are the last results of checkpoints, by checkpoint of a
// cell: those of the latest run that ended,
// and for what it did not have, or what a later run that was killed had judged
// already, those that are stored.
func (p *Project) lastResults(ctx context.Context) map[plan.CellID]report.Checkpoint {
	last := map[plan.CellID]report.Checkpoint{}
	ended := ""
	if results, err := pastResults(p.state, "latest"); err == nil {
		ended = results.Run
		addLast(last, results.Cells)
	}
	for at := range p.parts {
		part := &p.parts[at]
		if part.facts == nil {
			continue
		}
		cells, err := p.resultsIn(part.File)
		if err != nil {
			continue // it was whole a moment ago; the next run decides about it
		}
		addLast(last, cells)
	}
	for _, cell := range p.Plan.Cells {
		for i := range cell.Checkpoints {
			cc := &cell.Checkpoints[i]
			key := cell.ID().At(cc.Checkpoint.Name)
			since := ended
			if _, known := last[key]; !known {
				since = ""
			}
			if c, ok := p.storedResult(ctx, cell, cc, since); ok {
				last[key] = c
			}
		}
	}
	return last
}

func addLast(last map[plan.CellID]report.Checkpoint, cells []report.Cell) {
	for i := range cells {
		for _, c := range cells[i].Listed() {
			last[plan.ResultCell(&cells[i]).At(c.Name)] = c
		}
	}
}

// storedResult is the result of a checkpoint by the build log, if a run after
// since made that. What broke after its last answer has been served by no run
// since, or the log would not say so.
func (p *Project) storedResult(ctx context.Context, cell *plan.Cell, cc *plan.CellCheckpoint, since string) (report.Checkpoint, bool) {
	for _, id := range p.Plan.GradingNodes(cell, cc) {
		if e, ok := p.log.Get(p.Plan.Graph.Node(id).Addr); ok && e.Broken != "" {
			return report.Checkpoint{Name: cc.Checkpoint.Name, Class: verdict.NotJudged, Message: &e.Broken}, true
		}
	}
	entry, ok := p.log.Get(p.Plan.Graph.Node(cc.Aggregate).Addr)
	if !ok || !laterRun(entry.Run, since) {
		return report.Checkpoint{}, false
	}
	for _, o := range entry.Outputs {
		if o.Name != tasks.ResultOutput {
			continue
		}
		var v verdict.Checkpoint
		content, err := cache.ReadBlob(ctx, p.store, o.Digest, -1)
		if err == nil && json.Unmarshal(content, &v) == nil {
			return report.NewCheckpoint(&v, &verdict.Measurements{}), true
		}
	}
	return report.Checkpoint{}, false
}

// laterRun reports whether a run began after another, by the second; their ids
// begin with that. Any run is later than none.
func laterRun(id, other string) bool {
	second := func(id string) string { return id[:max(0, strings.LastIndexByte(id, '-'))] }
	return other == "" || second(id) > second(other)
}
