package eval

import (
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/plan"
)

// Found lists the nodes that selectors match, and their cells and files.
type Found struct {
	Nodes []FoundNode   // in topological order
	Cells []plan.CellID // cells of the nodes, in the order of results
	Files []string      // files that the nodes read; relative to the project's directory if inside; sorted
}

// FoundNode names a node.
type FoundNode struct {
	Addr string `json:"addr"`
	Kind string `json:"kind"`
}

// Query returns the nodes that match selectors, or all nodes without selectors. It determines files only on
// request, which requires compiling the partitions of the nodes. It executes and writes nothing.
func Query(ctx context.Context, o Options, selectors []string, files bool) (*Found, error) {
	f, err := openChanged(ctx, o, Reading)
	if err != nil {
		return nil, err
	}
	defer f.call.close()
	p, err := f.compileReaders(ctx, selectors, true)
	if err != nil {
		return nil, err
	}
	ids, err := p.Targets(ctx, Selection{Targets: selectors})
	if err != nil {
		return nil, err
	}
	found, cells := &Found{Nodes: []FoundNode{}, Files: []string{}}, map[plan.CellID]bool{}
	for _, id := range ids {
		n := p.Plan.Graph.Node(id)
		found.Nodes = append(found.Nodes, FoundNode{n.Addr, n.Kind})
		cell := plan.NodeCell(n).At("")
		if cell.Repeat > 0 && !cells[cell] {
			cells[cell] = true
			found.Cells = append(found.Cells, cell)
		}
	}
	slices.SortFunc(found.Cells, plan.CellID.Compare)
	if !files {
		return found, nil
	}
	if p, err = p.withStale(ctx, havePinned(p.Plan.Graph, ids)); err != nil {
		return nil, err
	}
	if _, err := p.decideAll(ctx); err != nil {
		return nil, err
	}
	for _, n := range found.Nodes {
		for _, seen := range p.call.trace.Of(n.Addr) {
			if seen.OfFile() {
				found.Files = append(found.Files, p.call.Config.Relative(seen.Path))
			}
		}
	}
	slices.Sort(found.Files)
	found.Files = slices.Compact(found.Files)
	return found, nil
}
