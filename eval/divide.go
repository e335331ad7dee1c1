package eval

import (
	"context"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Divide plans like Plan, and divides the stale cells into count shards, or, if that is 0,
// into as many as it takes for each to take target.
func Divide(ctx context.Context, o Options, r Request, count int, target time.Duration) (*shards.Division, error) {
	p, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	g, err := p.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	d := shards.NewDivision(r.Selection, target.Seconds(), o.RunJobs(), p.cellsAmong(g))
	if invalid := p.invalidAmong(g.targets); len(invalid) > 0 {
		o.Note(options.InvalidProblems{Diagnostics: invalid})
	}
	rep, err := p.decide(ctx, g)
	if err != nil {
		return nil, err
	}
	d.Divide(p.Plan, g.targets, rep, count)
	return d, nil
}

// cellsAmong is how many cells goals are about.
func (p *Project) cellsAmong(g goals) int {
	n, among := 0, map[plan.CellID]bool{}
	for _, part := range p.closed() {
		n += len(part.facts.Cells)
	}
	for _, id := range p.nodes(g) {
		if cell := plan.NodeCell(p.Plan.Graph.Node(id)).Cell(); cell.Repeat > 0 {
			among[cell] = true
		}
	}
	return n + len(among)
}
