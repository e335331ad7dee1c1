package plan

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
)

// GradingNodes returns the nodes whose work determines a checkpoint's verdict: they run the solution's
// code on the cell's backend, other nodes prepare that or read its result. They are in topological order
// and belong to the cell, except for the compilation, which repeats share.
func (p *Plan) GradingNodes(cell *Cell, cc *CellCheckpoint) []graph.ID {
	var ids []graph.ID
	add := func(id graph.ID) {
		n := p.Graph.Node(id)
		mine := n.Label("solution") == cell.Solution.Name && n.Label("backend") == cell.Backend.Addr()
		if mine && !InProcess(n) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range cc.Own {
		for _, d := range p.Graph.Node(id).Deps {
			if p.Graph.Node(d.On).Kind == KindCompile {
				add(d.On)
			}
		}
		add(id)
	}
	return ids
}
