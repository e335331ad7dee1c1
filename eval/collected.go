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

// collected holds the results of a run by partition.
type collected struct {
	of      *goals
	parts   []collectedPart // parallel to freshness.parts
	tasks   []report.Task
	written *remembering // of a run
}

// collectedPart holds the results of a partition. They are in a file, if it has them all, until a caller reads
// them: that of a fresh partition, if it was requested completely, or the file that collect wrote.
type collectedPart struct {
	whole bool             // all results of the partition's file
	file  partition.Name   // with the results; zero if cells are all of them
	rows  []report.CellRow // summaries of the cells
	cells []report.Cell    // nil until they are read
}

// collect reads the results of the goals, and writes those that are in no file yet, partition by partition: all of
// them at once could be most of a run's memory.
func (x *execution) collect(ctx context.Context) (*collected, error) {
	c, err := x.goals.freshResults()
	if err != nil {
		return nil, err
	}
	c.tasks, c.written = x.taskResults(), x.remembering()
	compiled := make([][]*plan.Cell, len(c.parts))
	for _, cell := range x.project.Plan.Cells {
		at, ok := x.project.fresh.partOf(cell.Problem.Name, cell.Solution.Name)
		if !ok {
			return nil, fmt.Errorf("bug in fevalgraph: the cell %v is in no partition", cell.ID())
		}
		compiled[at] = append(compiled[at], cell)
	}
	asked := func(id graph.ID) bool { _, ok := slices.BinarySearch(x.rep.Nodes, id); return ok }
	for at := range c.parts {
		part := &c.parts[at]
		if compiled[at] != nil {
			if part.cells, err = x.project.Plan.Results(ctx, x.call.stores.Store, x.rep, asked, compiled[at]); err != nil {
				return nil, err
			}
		}
		if part.whole {
			continue
		}
		part.summarize()
		if part.file = c.written.write(at, compiled[at], part.cells); part.file != (partition.Name{}) {
			part.cells = nil
		}
	}
	return c, nil
}

// summarize fills in the summaries of cells that are known.
func (p *collectedPart) summarize() {
	for i := range p.cells {
		p.rows = append(p.rows, report.RowOf(&p.cells[i]))
	}
}

// freshResults returns the results of the goals in fresh partitions.
func (g *goals) freshResults() (*collected, error) {
	c := &collected{of: g, parts: make([]collectedPart, len(g.project.fresh.parts))}
	if g.project.expanded {
		return c, c.narrow()
	}
	for at, part := range g.project.fresh.freshParts() {
		c.parts[at] = collectedPart{whole: true, file: part.File, rows: part.facts.Summary}
	}
	return c, nil
}

// narrow reads the requested results of expanded partitions.
func (c *collected) narrow() error {
	of := c.of.project.Plan.Graph
	asked, problems := make([]bool, of.Len()), map[string]bool{}
	for _, id := range c.of.nodes() {
		asked[id] = true
		problems[of.Node(id).Label("problem")] = true
	}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for at, fresh := range c.of.project.fresh.freshParts() {
		if !problems[fresh.Problem] {
			continue
		}
		group.Go(func() error {
			all, err := c.of.call.partitions.Results(fresh.File)
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
			if part.whole {
				*part = collectedPart{whole: true, file: fresh.File, rows: fresh.facts.Summary}
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
		all = append(all, c.parts[at].rows...)
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
	return &report.Results{Schema: report.Schema, Run: c.of.call.run, Cells: all, Tasks: c.tasks}, nil
}

// load reads the results that are still in files, once.
func (c *collected) load() error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for at := range c.parts {
		if part := &c.parts[at]; part.file != (partition.Name{}) && part.cells == nil {
			group.Go(func() (err error) {
				part.cells, err = c.of.call.partitions.Results(part.file)
				return err
			})
		}
	}
	return group.Wait()
}
