package eval

import (
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
)

// addRoots sets the roots and Feeds of decisions. ids are their nodes, in topological order.
func addRoots(g *graph.Graph, ids []graph.ID, nodes []Decision) {
	index := make(map[graph.ID]int, len(ids))
	for i, id := range ids {
		index[id] = i
		d := &nodes[i]
		d.Root, d.RootCategory, d.RootState, d.RootAddr = d.Cause, d.Category, d.State, d.Addr
		if d.Category != string(event.CauseFollows) && d.Category != "blocked" {
			continue
		}
		for _, dep := range g.Node(id).Deps {
			if j, ok := index[dep.On]; ok && nodes[j].State != Fresh && (d.Category == string(event.CauseFollows) || cannotRun(nodes[j].State)) {
				from := &nodes[j]
				d.Root, d.RootCategory, d.RootState, d.RootAddr = from.Root, from.RootCategory, from.RootState, from.RootAddr
				break
			}
		}
	}
	for i := len(ids) - 1; i >= 0; i-- {
		if d := &nodes[i]; d.State == Fresh || !d.Feeds && !d.ofCell() {
			continue
		}
		for _, dep := range g.Node(ids[i]).Deps {
			if j, ok := index[dep.On]; ok {
				nodes[j].Feeds = true
			}
		}
	}
}

// cannotRun reports whether a node in this state blocks its dependents.
func cannotRun(state string) bool {
	return state == "broken" || state == "failed" || state == "error" || state == "blocked" || state == "skipped"
}

// ofCell reports whether the node belongs to exactly one cell.
func (d *Decision) ofCell() bool { return d.Cell.Solution != "" && d.Cell.Backend != "" }
