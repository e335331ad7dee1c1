package eval

import (
	"cmp"
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// CheckpointStatus is the last verdict of a checkpoint of a cell, and whether it still
// holds.
type CheckpointStatus struct {
	Cell  plan.CellID        // with its checkpoint
	Last  *report.Checkpoint // of the last run; nil when that had none
	State string             // as in Decision; "error" of an invalid problem
	Cause string             // "" when it is fresh
}

// Status decides about every checkpoint that a selection picks and compares with the
// last run.
func Status(ctx context.Context, o Options, s Selection) ([]CheckpointStatus, error) {
	p, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	g, err := p.prepare(ctx, Request{Selection: s})
	if err != nil {
		return nil, err
	}
	var all []CheckpointStatus
	if p.Plan != nil {
		rep, err := p.decide(ctx, g)
		if err != nil {
			return nil, err
		}
		all = p.compiledStatus(ctx, rep)
	}
	fresh, err := p.freshResults(g)
	if err != nil {
		return nil, fail(NotJudged, err)
	}
	for at := range fresh.parts {
		for i := range fresh.parts[at].cells {
			cell := &fresh.parts[at].cells[i]
			listed := cell.Listed()
			for j := range listed {
				all = append(all, CheckpointStatus{Cell: plan.ResultCell(cell).At(listed[j].Name), Last: &listed[j], State: Fresh})
			}
		}
	}
	// In the order of results, whatever was compiled.
	slices.SortStableFunc(all, func(a, b CheckpointStatus) int {
		return cmp.Or(cmp.Compare(a.Cell.Problem, b.Cell.Problem), cmp.Compare(a.Cell.Solution, b.Cell.Solution),
			cmp.Compare(a.Cell.Backend, b.Cell.Backend), cmp.Compare(a.Cell.Repeat, b.Cell.Repeat))
	})
	return all, nil
}

// compiledStatus are those of the cells that were compiled.
func (p *Project) compiledStatus(ctx context.Context, rep *graph.Report) []CheckpointStatus {
	if len(p.Plan.Cells) == 0 {
		return nil
	}
	last := p.lastResults(ctx)
	of := func(id plan.CellID) *report.Checkpoint {
		if c, ok := last[id]; ok {
			return &c
		}
		return nil
	}
	asked := make([]bool, p.Plan.Graph.Len())
	for _, id := range rep.Nodes {
		asked[id] = true
	}
	var all []CheckpointStatus
	for _, cell := range p.Plan.Cells {
		if invalid := cell.Problem.Invalid; len(invalid) > 0 && asked[cell.Node] {
			all = append(all, CheckpointStatus{Cell: cell.ID(), Last: of(cell.ID()), State: "error", Cause: invalid.Error()})
		}
		for _, cc := range cell.Checkpoints {
			if asked[cc.Aggregate] {
				id := cell.ID().At(cc.Checkpoint.Name)
				one := CheckpointStatus{Cell: id, Last: of(id)}
				one.State, one.Cause = holds(rep, cc)
				all = append(all, one)
			}
		}
	}
	return all
}

// holds tells whether a checkpoint's verdict still holds: the first of its nodes
// that is not fresh says why not.
func holds(rep *graph.Report, cc plan.CellCheckpoint) (state, cause string) {
	for _, id := range cc.Own {
		st := rep.Status(id)
		if state := stateOf(st); state != Fresh {
			return state, causeOf(st)
		}
	}
	return Fresh, ""
}
