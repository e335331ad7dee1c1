package eval

import (
	"context"

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
	p, err := Open(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	targets, err := p.Targets(ctx, s)
	if err != nil {
		return nil, err
	}
	rep, err := p.decide(ctx, goals{targets: targets})
	if err != nil {
		return nil, err
	}
	past := pastCheckpoints(p.state)
	asked := make([]bool, p.Plan.Graph.Len())
	for _, id := range rep.Nodes {
		asked[id] = true
	}
	var all []CheckpointStatus
	for _, cell := range p.Plan.Cells {
		if invalid := cell.Problem.Invalid; len(invalid) > 0 && asked[cell.Node] {
			all = append(all, CheckpointStatus{Cell: cell.ID(), Last: past[cell.ID()], State: "error", Cause: invalid.Error()})
		}
		for _, cc := range cell.Checkpoints {
			if asked[cc.Aggregate] {
				id := cell.ID().At(cc.Checkpoint.Name)
				one := CheckpointStatus{Cell: id, Last: past[id]}
				one.State, one.Cause = holds(rep, cc)
				all = append(all, one)
			}
		}
	}
	return all, nil
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

// pastCheckpoints are the results of the latest run.
func pastCheckpoints(state string) map[plan.CellID]*report.Checkpoint {
	past := map[plan.CellID]*report.Checkpoint{}
	results, err := pastResults(state, "latest")
	if err != nil {
		return past // what cannot be shown is asked for by `fevalgraph results`
	}
	for i := range results.Cells {
		cell := &results.Cells[i]
		listed := cell.Listed()
		for j := range listed {
			past[plan.ResultCell(cell).At(listed[j].Name)] = &listed[j]
		}
	}
	return past
}
