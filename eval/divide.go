package eval

import (
	"context"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Division says how the stale cells of a plan are divided among machines that have what
// this one's store has, and do not talk to each other. It is what `plan --shards` prints,
// and `run --cells` and `merge` read.
type Division struct {
	Schema  int       `json:"schema"`
	Asked   Selection `json:"asked"`            // the cells that it is about, stale or not
	Target  float64   `json:"target_seconds"`   // that a shard is to take with so many jobs
	Jobs    int       `json:"jobs"`             // of each machine
	Seconds float64   `json:"expected_seconds"` // of all stale work, one after another
	Fresh   int       `json:"fresh_cells"`
	// Guessed are stale cells of which no run has told how long they take. The median of
	// the others stands in.
	Guessed int            `json:"guessed_cells"`
	Shards  []shards.Shard `json:"shards"` // empty when nothing is stale
}

// divisionSchema is raised when a reader of a Division would misread it.
const divisionSchema = 1

// Divide plans like Plan, and divides the stale cells into count shards, or, if that is 0,
// into as many as it takes for each to take target.
func Divide(ctx context.Context, o Options, r Request, count int, target time.Duration) (*Division, error) {
	p, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	d := &Division{Schema: divisionSchema, Asked: r.Selection, Target: target.Seconds(), Jobs: o.RunJobs(), Shards: []shards.Shard{}}
	g, err := p.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	if p.Plan == nil {
		d.Fresh = p.cells()
		return d, nil
	}
	if invalid := p.invalidAmong(g.targets); len(invalid) > 0 {
		o.Note(options.InvalidProblems{Diagnostics: invalid})
	}
	rep, err := p.decide(ctx, g)
	if err != nil {
		return nil, err
	}
	cells, common := p.staleCells(g, rep)
	d.Fresh = p.cellsAmong(g) - len(cells)
	for _, c := range cells {
		if c.Seconds == 0 {
			d.Guessed++
		}
	}
	d.Shards = shards.Divide(cells, common, count, target.Seconds()*float64(d.Jobs))
	for _, s := range d.Shards {
		d.Seconds += s.Seconds
	}
	return d, nil
}

// cellsAmong is how many cells goals are about.
func (p *Project) cellsAmong(g goals) int {
	if p.depth == summits {
		return p.cells()
	}
	among := map[plan.CellID]bool{}
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		if cell := plan.NodeCell(p.Plan.Graph.Node(id)).Cell(); cell.Repeat > 0 {
			among[cell] = true
		}
	}
	return len(among)
}

// staleCells are the cells with work to do that a merge does not do anyway, and the
// seconds of the works that several cells share.
func (p *Project) staleCells(g goals, rep *graph.Report) (cells []shards.Cell, common []float64) {
	asked, shared := make([]bool, p.Plan.Graph.Len()), map[graph.ID]int{}
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		asked[id] = true
	}
	for _, cell := range p.Plan.Cells {
		one := shards.Cell{Name: cell.ID().String(), Problem: cell.Problem.Name}
		stale := false
		// Graph.Closure would look at every node of the graph, for each cell.
		needs, seen := []graph.ID{cell.Node}, map[graph.ID]bool{cell.Node: true}
		for at := 0; at < len(needs); at++ {
			id := needs[at]
			n := p.Plan.Graph.Node(id)
			for _, d := range n.Deps {
				if !seen[d.On] {
					seen[d.On] = true
					needs = append(needs, d.On)
				}
			}
			if !asked[id] || n.Pinned != nil || plan.InProcess(n) || stateOf(rep.Status(id)) == Fresh {
				continue
			}
			stale = true
			if seconds := rep.Status(id).Expected; plan.NodeCell(n).Cell() == cell.ID() {
				one.Seconds += seconds
			} else if seconds > 0 {
				at, known := shared[id]
				if !known {
					at = len(common)
					shared[id], common = at, append(common, seconds)
				}
				one.Common = append(one.Common, at)
			}
		}
		if stale {
			cells = append(cells, one)
		}
	}
	return cells, common
}
