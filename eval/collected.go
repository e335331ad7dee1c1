package eval

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// collected are the results of a run, partition by partition.
type collected struct {
	p     *Project
	parts []collectedPart // like Project.parts
}

// collectedPart is what a run has of a partition. Of a fresh one, all of which was asked
// for, the results stay in its file until a caller needs them.
type collectedPart struct {
	whole bool          // the results are those of the partition's file
	cells []report.Cell // otherwise
}

// collectResults reads the results of what the run was asked for.
func (p *Project) collectResults(ctx context.Context, g goals, rep *graph.Report) (*collected, error) {
	c, err := p.freshResults(g)
	if err != nil {
		return nil, err
	}
	compiled, err := p.Plan.Results(ctx, p.stores.Store, rep, p.run)
	if err != nil {
		return nil, err
	}
	for _, cell := range compiled.Cells {
		at, ok := p.partOf(cell.Problem, cell.Solution)
		if !ok {
			return nil, fmt.Errorf("bug in fevalgraph: the cell %v is in no partition", plan.ResultCell(&cell))
		}
		c.parts[at].cells = append(c.parts[at].cells, cell)
	}
	return c, nil
}

// freshResults are those of fresh partitions that goals ask for.
func (p *Project) freshResults(g goals) (*collected, error) {
	c := &collected{p: p, parts: make([]collectedPart, len(p.parts))}
	if p.expanded {
		return c, c.narrow(g)
	}
	for at := range p.fresh() {
		c.parts[at].whole = true
	}
	return c, nil
}

// narrow reads what was asked for of open partitions.
func (c *collected) narrow(g goals) error {
	asked := make([]bool, c.p.Plan.Graph.Len())
	problems := map[string]bool{}
	for _, id := range c.p.Plan.Graph.Closure(g.targets) {
		asked[id] = true
		problems[c.p.Plan.Graph.Node(id).Label("problem")] = true
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for at, fresh := range c.p.fresh() {
		if !problems[fresh.Problem] {
			continue
		}
		group.Go(func() error {
			all, err := c.p.partitions().Results(fresh.File)
			if err != nil {
				return err
			}
			part := &c.parts[at]
			part.whole = true
			for i := range all {
				cell, any := plan.Narrow(all[i], func(addr string, _ *report.Checkpoint) bool {
					id, ok := c.p.Plan.Graph.Lookup(addr)
					return ok && asked[id]
				})
				if any {
					part.cells = append(part.cells, cell)
				}
				part.whole = part.whole && any && len(cell.Checkpoints) == len(all[i].Checkpoints)
			}
			return nil
		})
	}
	return group.Wait()
}

// partOf finds the partition that a solution of a problem falls into.
func (p *Project) partOf(problem, solution string) (at int, ok bool) {
	at, exact := p.find(problem, solution)
	if !exact {
		at--
	}
	return at, at >= 0 && p.parts[at].Problem == problem
}

// find looks for the partition that begins with a solution, or for its place.
func (p *Project) find(problem, first string) (at int, ok bool) {
	return slices.BinarySearchFunc(p.parts, partition.Ref{Problem: problem, First: first}, func(a partState, b partition.Ref) int { return comparePartRefs(a.Ref, b) })
}

// rows are the summaries of all cells, in the order of results.
func (c *collected) rows() []report.CellRow {
	var all []report.CellRow
	for at := range c.parts {
		if c.parts[at].whole && c.parts[at].cells == nil {
			all = append(all, c.p.parts[at].facts.Summary...)
			continue
		}
		for i := range c.parts[at].cells {
			all = append(all, report.RowOf(&c.parts[at].cells[i]))
		}
	}
	return all
}

// results reads the results of all cells.
func (c *collected) results() (*report.Results, error) {
	if err := c.load(); err != nil {
		return nil, err
	}
	var all []report.Cell
	for at := range c.parts {
		all = append(all, c.parts[at].cells...)
	}
	return &report.Results{Schema: report.Schema, Run: c.p.run, Cells: all}, nil
}

// load reads the results that are still in their files, once.
func (c *collected) load() error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for at := range c.parts {
		if part := &c.parts[at]; part.whole && part.cells == nil {
			group.Go(func() (err error) {
				part.cells, err = c.p.partitions().Results(c.p.parts[at].File)
				return err
			})
		}
	}
	return group.Wait()
}
