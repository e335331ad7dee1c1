package eval

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// collected holds the results of a run by partition.
type collected struct {
	of    *goals
	parts []collectedPart // parallel to freshness.parts
	tasks []report.Task
}

// collectedPart holds the results of a partition. For a fresh partition that was requested completely, they
// stay in its file until a caller reads them.
type collectedPart struct {
	whole bool          // all results of the partition's file
	cells []report.Cell // results, unless whole
}

// collect reads the results of the goals.
func (x *execution) collect(ctx context.Context) (*collected, error) {
	c, err := x.freshResults()
	if err != nil {
		return nil, err
	}
	c.tasks = x.taskResults()
	compiled, err := x.Plan.Results(ctx, x.stores.Store, x.rep, x.run)
	if err != nil {
		return nil, err
	}
	for _, cell := range compiled.Cells {
		at, ok := x.partOf(cell.Problem, cell.Solution)
		if !ok {
			return nil, fmt.Errorf("bug in fevalgraph: the cell %v is in no partition", plan.ResultCell(&cell))
		}
		c.parts[at].cells = append(c.parts[at].cells, cell)
	}
	return c, nil
}

// freshResults returns the results of the goals in fresh partitions.
func (g *goals) freshResults() (*collected, error) {
	c := &collected{of: g, parts: make([]collectedPart, len(g.parts))}
	if g.expanded {
		return c, c.narrow()
	}
	for at := range g.fresh() {
		c.parts[at].whole = true
	}
	return c, nil
}

// narrow reads the requested results of expanded partitions.
func (c *collected) narrow() error {
	of := c.of.Plan.Graph
	asked, problems := make([]bool, of.Len()), map[string]bool{}
	for _, id := range c.of.nodes() {
		asked[id] = true
		problems[of.Node(id).Label("problem")] = true
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for at, fresh := range c.of.fresh() {
		if !problems[fresh.Problem] {
			continue
		}
		group.Go(func() error {
			all, err := c.of.partitions.Results(fresh.File)
			if err != nil {
				return err
			}
			part := &c.parts[at]
			part.whole = true
			for i := range all {
				cell, any := plan.Narrow(all[i], func(addr string, _ *report.Checkpoint) bool {
					id, ok := of.Lookup(addr)
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

// rows returns the summaries of all cells, in the order of results.
func (c *collected) rows() []report.CellRow {
	var all []report.CellRow
	for at := range c.parts {
		if c.parts[at].whole && c.parts[at].cells == nil {
			all = append(all, c.of.parts[at].facts.Summary...)
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
	return &report.Results{Schema: report.Schema, Run: c.of.run, Cells: all, Tasks: c.tasks}, nil
}

// load reads the results that are still in files, once.
func (c *collected) load() error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for at := range c.parts {
		if part := &c.parts[at]; part.whole && part.cells == nil {
			group.Go(func() (err error) {
				part.cells, err = c.of.partitions.Results(c.of.parts[at].File)
				return err
			})
		}
	}
	return group.Wait()
}
