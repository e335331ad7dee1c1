package eval

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// CheckpointStatus is the last verdict of a checkpoint of a cell, and whether it still
// holds.
type CheckpointStatus struct {
	Cell  plan.CellID        // with its checkpoint
	Last  *report.Checkpoint // the last known one; nil when it was never judged
	Run   string             // that judged it or served its verdict last
	State string             // as in Decision; "error" of an invalid problem
	Cause string             // "" when it is fresh
	Node  string             // address of the node that Cause is about; "" when it is fresh

	of *report.Cell // that has Last; nil when only the build log has it
}

// Status decides about every checkpoint that a selection picks, and finds its last
// verdict. The tasks are those among its nodes that a run would run, in topological order.
func Status(ctx context.Context, o Options, s Selection) (all []CheckpointStatus, tasks []Decision, err error) {
	return status(ctx, o, s, func(*Project) {})
}

// status is Status; read is called before the project is closed.
func status(ctx context.Context, o Options, s Selection, read func(*Project)) (all []CheckpointStatus, tasks []Decision, err error) {
	p, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, nil, err
	}
	defer p.Close()
	defer read(p)
	g, err := p.prepare(ctx, Request{Selection: s})
	if err != nil {
		return nil, nil, err
	}
	rep, all, err := p.statusOf(ctx, g)
	if err != nil || rep == nil {
		return all, nil, err
	}
	for _, id := range rep.Nodes {
		if n := p.Plan.Graph.Node(id); n.Kind == plan.KindTask {
			if d := decisionOn(n, rep.Status(id)); d.State != Fresh {
				tasks = append(tasks, d)
			}
		}
	}
	return all, tasks, nil
}

// statuses decides about the checkpoints of a selection.
func (p *Project) statuses(ctx context.Context, s Selection) ([]CheckpointStatus, error) {
	g, err := p.prepare(ctx, Request{Selection: s})
	if err != nil {
		return nil, err
	}
	_, all, err := p.statusOf(ctx, g)
	return all, err
}

// statusOf decides about the checkpoints among some nodes, in a dry run that it returns;
// nil when nothing is compiled.
func (p *Project) statusOf(ctx context.Context, g goals) (rep *graph.Report, all []CheckpointStatus, err error) {
	if p.Plan != nil {
		if rep, err = p.decide(ctx, g); err != nil {
			return nil, nil, err
		}
		all = p.compiledStatus(ctx, rep)
	}
	fresh, err := p.freshResults(g)
	if err != nil {
		return nil, nil, exit.With(exit.NotJudged, err)
	}
	latest := p.latestFiles()
	for at := range fresh.parts {
		run := latest.Run
		if part := &p.parts[at]; part.facts != nil && !slices.Contains(latest.Partitions, part.File.String()) {
			run = part.facts.Run
		}
		for i := range fresh.parts[at].cells {
			cell := &fresh.parts[at].cells[i]
			listed := cell.Listed()
			for j := range listed {
				all = append(all, CheckpointStatus{Cell: plan.ResultCell(cell).At(listed[j].Name), Last: &listed[j], Run: run, State: Fresh, of: cell})
			}
		}
	}
	// In the order of results, whatever was compiled.
	slices.SortStableFunc(all, func(a, b CheckpointStatus) int {
		return cmp.Or(cmp.Compare(a.Cell.Problem, b.Cell.Problem), cmp.Compare(a.Cell.Solution, b.Cell.Solution),
			cmp.Compare(a.Cell.Backend, b.Cell.Backend), cmp.Compare(a.Cell.Repeat, b.Cell.Repeat))
	})
	return rep, all, nil
}

// latestFiles is the manifest of the latest run; without entries when it has none.
func (p *Project) latestFiles() event.Manifest {
	run, err := event.FindRun(p.state, "latest")
	if err != nil {
		return event.Manifest{}
	}
	m, err := run.Manifest()
	if err != nil {
		errors.As(err, &p.damaged)
		return event.Manifest{}
	}
	return *m
}

// compiledStatus are those of the cells that were compiled.
func (p *Project) compiledStatus(ctx context.Context, rep *graph.Report) []CheckpointStatus {
	if len(p.Plan.Cells) == 0 {
		return nil
	}
	last := p.lastResults(ctx)
	status := func(id plan.CellID) CheckpointStatus {
		if c, ok := last[id]; ok {
			return CheckpointStatus{Cell: id, Last: &c.Checkpoint, Run: c.run, of: c.cell}
		}
		return CheckpointStatus{Cell: id}
	}
	asked := make([]bool, p.Plan.Graph.Len())
	for _, id := range rep.Nodes {
		asked[id] = true
	}
	var all []CheckpointStatus
	for _, cell := range p.Plan.Cells {
		if invalid := cell.Problem.Invalid; len(invalid) > 0 && asked[cell.Node] {
			one := status(cell.ID())
			one.State, one.Cause = "error", invalid.Error()
			all = append(all, one)
		}
		for _, cc := range cell.Checkpoints {
			if asked[cc.Aggregate] {
				one := status(cell.ID().At(cc.Checkpoint.Name))
				one.State, one.Cause, one.Node = p.holds(rep, cc)
				all = append(all, one)
			}
		}
	}
	return all
}

// holds tells whether a checkpoint's verdict still holds: the first of its nodes
// that is not fresh says why not.
func (p *Project) holds(rep *graph.Report, cc plan.CellCheckpoint) (state, cause, node string) {
	for _, id := range cc.Own {
		st := rep.Status(id)
		if state := stateOf(st); state != Fresh {
			return state, causeOf(st), p.Plan.Graph.Node(id).Addr
		}
	}
	return Fresh, "", ""
}

// LastResults are the last known results of every checkpoint that the configuration has.
// A checkpoint that was last judged in another run than the latest has that Run, and one
// that a run would judge again a State.
func LastResults(ctx context.Context, o Options) (*report.Results, error) {
	latest, err := event.FindRun(o.StateDir(), "latest")
	if err != nil {
		return nil, exit.Past(err)
	}
	p, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	all, err := p.statuses(ctx, Selection{})
	if err != nil {
		return nil, err
	}
	if p.damaged != nil { // an older result would pass for the last one
		return nil, exit.Past(p.damaged)
	}
	results := &report.Results{Schema: report.Schema, Run: latest.ID, Cells: []report.Cell{}}
	add := adder(results)
	for _, one := range all {
		add(one)
	}
	for i := range results.Cells {
		if cell := &results.Cells[i]; len(cell.Checkpoints) > 0 {
			plan.SumUp(cell)
		}
	}
	return results, nil
}

// orUnjudged is the status with a result: of what was never judged, one without a verdict.
func (s CheckpointStatus) orUnjudged() CheckpointStatus {
	if s.of == nil {
		s.of = &report.Cell{Problem: s.Cell.Problem, Solution: s.Cell.Solution, Backend: s.Cell.Backend, Repeat: s.Cell.Repeat, Status: verdict.Skipped, Checkpoints: make([]report.Checkpoint, 1)}
		s.Last = &report.Checkpoint{Name: s.Cell.Checkpoint, Class: verdict.NotRun}
	}
	return s
}

// adder returns what adds the last results of checkpoints to results.
func adder(results *report.Results) func(CheckpointStatus) {
	at := map[plan.CellID]int{}
	for i := range results.Cells {
		cell := &results.Cells[i]
		at[plan.ResultCell(cell)] = i
		cell.Checkpoints = slices.Clone(cell.Checkpoints)
	}
	return func(one CheckpointStatus) {
		if one.of == nil {
			return
		}
		i, known := at[one.Cell.Cell()]
		if !known {
			i = len(results.Cells)
			at[one.Cell.Cell()] = i
			cell := *one.of
			cell.Checkpoints = []report.Checkpoint{}
			results.Cells = append(results.Cells, cell)
		}
		if len(one.of.Checkpoints) == 0 {
			return // of an invalid problem
		}
		c := *one.Last
		if c.Run = one.Run; c.Run == results.Run {
			c.Run = ""
		}
		if c.State = one.State; c.State == Fresh {
			c.State = ""
		}
		results.Cells[i].Checkpoints = append(results.Cells[i].Checkpoints, c)
	}
}
