package pages

import (
	"cmp"
	"strings"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/draw"
)

// mostBoxes is the number of nodes up to which each has a box. Beyond it, nodes of a kind share one.
const mostBoxes = 40

// mostDrawn limits the drawn nodes of a cell.
const mostDrawn = 20_000

// roles maps states, of plans and events, to roles of colors.
var roles = map[string]string{
	"fresh": "good", string(event.Done): "good", string(event.Cached): "s0", string(event.Failed): "bad", "error": "bad", string(event.Timeout): "bad",
	string(event.Broken): "fault", string(event.Blocked): "fault", "stale": "odd", "new": "s0",
}

// Flow lays out a drawing of a graph.
func Flow(d *graph.Drawing) *draw.Drawing {
	return layoutFlow(d, func(name string) string { return name })
}

// layoutFlow lays out a drawing with renamed boxes.
func layoutFlow(d *graph.Drawing, nameOf func(string) string) *draw.Drawing {
	boxes := make([]draw.Box, len(d.Boxes))
	for i := range d.Boxes {
		b := &d.Boxes[i]
		boxes[i] = draw.Box{Name: nameOf(b.Name), Note: b.Notes(), Role: roles[b.State], Title: b.Name + ": " + b.Notes(), Column: b.Column}
	}
	return draw.Flow(boxes, d.Edges)
}

// linked is a node that produced results, with the addresses of its dependencies.
type linked struct {
	graph.Row
	deps []string
}

// closure returns the nodes of a cell, and those with figures about its solution, with their dependencies, in
// topological order, as rows of a graph.
func (n *nodes) closure(cell *report.Cell) []graph.Row {
	place, rows := map[string]int32{}, []graph.Row(nil)
	var visit func(addr string)
	visit = func(addr string) {
		node := n.linked[addr]
		if _, seen := place[addr]; seen || node == nil || len(place) >= mostDrawn {
			return
		}
		place[addr] = -1 // records are from elsewhere: they can contain a cycle
		row := node.Row
		row.Deps = nil
		for _, dep := range node.deps {
			visit(dep)
			if at, has := place[dep]; has && at >= 0 {
				row.Deps = append(row.Deps, at)
			}
		}
		place[addr] = int32(len(rows))
		rows = append(rows, row)
	}
	for _, name := range namesOf(cell) {
		for _, done := range n.byName[name] {
			visit(done.Addr)
		}
	}
	for _, addr := range n.figures[plan.CellID{Problem: cell.Problem, Solution: cell.Solution}] {
		visit(addr)
	}
	return rows
}

// graph draws the nodes of a cell and their dependencies.
func (n *nodes) graph(cell *report.Cell) *draw.Drawing {
	rows := n.closure(cell)
	if len(rows) < 2 {
		return nil
	}
	states := map[string]graph.NodeState{}
	for _, name := range namesOf(cell) {
		for i := range n.byName[name] {
			done := &n.byName[name][i]
			states[done.Addr] = graph.NodeState{State: string(done.State), Seconds: done.Seconds}
		}
	}
	g := graph.New()
	g.AddRows(rows)
	ids := make([]graph.ID, len(rows)) // as in a graph: addresses are unique
	for i := range ids {
		ids[i] = graph.ID(i)
	}
	drawing := g.Draw(ids, func(id graph.ID) graph.NodeState {
		row := &rows[id]
		state, known := states[row.Addr]
		if !known { // shared with other cells
			state.State = string(event.Cached)
			if row.Run == n.Run(plan.ResultCell(cell).String()) {
				state.State = string(event.Done)
			}
		}
		state.Seconds = cmp.Or(state.Seconds, row.Seconds)
		return state
	}, func(node *graph.Node) string {
		if len(rows) > mostBoxes {
			return node.Kind
		}
		return ""
	})
	return layoutFlow(drawing, func(name string) string { return shortAddress(name, cell) })
}

// shortAddress shortens the address of a node to its part within a cell, such as "pytest checkpoint_1".
func shortAddress(addr string, cell *report.Cell) string {
	kind, rest, isAddr := strings.Cut(addr, ":")
	if !isAddr {
		return addr
	}
	id := plan.ResultCell(cell)
	rest = strings.Replace("/"+rest, strings.TrimPrefix(id.String(), id.Problem), "", 1)
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, "@"+id.Backend), "/"+id.Solution)
	return strings.TrimSpace(kind + " " + strings.TrimPrefix(strings.TrimPrefix(rest, "/"+id.Problem), "/"))
}
