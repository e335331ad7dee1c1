package eval

import (
	"iter"
	"slices"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// decisions yields the decisions about nodes in ascending order, with their roots and Feeds. It makes them one
// by one: those of all nodes would take more memory than the graph.
func (x *execution) decisions(ids []graph.ID) iter.Seq[Decision] {
	roots, feeds := x.roots(ids), x.feeds(ids)
	return func(yield func(Decision) bool) {
		for i, id := range ids {
			d := x.decision(id)
			from := d
			if int(roots[i]) != i {
				from = x.decision(ids[roots[i]])
			}
			d.Root, d.RootCategory, d.RootState, d.Feeds = x.rootCause(id, ids[roots[i]]), from.Category, from.State, feeds[i]
			if !yield(d) {
				return
			}
		}
	}
}

func (x *execution) decision(id graph.ID) Decision {
	return decisionOn(x.project.Plan.Graph.Node(id), x.rep.Status(id))
}

// roots returns the index of each node's root among ids: of the node itself, unless it follows others.
func (x *execution) roots(ids []graph.ID) []int32 {
	roots := make([]int32, len(ids))
	for i, id := range ids {
		roots[i] = int32(i)
		if dep, ok := x.followed(id); ok {
			if j, ok := slices.BinarySearch(ids, dep); ok {
				roots[i] = roots[j]
			}
		}
	}
	return roots
}

// rootOf returns the root of a single node.
func (x *execution) rootOf(id graph.ID) graph.ID {
	for dep, ok := x.followed(id); ok; dep, ok = x.followed(id) {
		id = dep
	}
	return id
}

// rootCause returns the cause of a node's root. As in causes of the graph, it names the task that another node follows,
// unless an input of that task changed.
func (x *execution) rootCause(id, root graph.ID) string {
	n, st := x.project.Plan.Graph.Node(root), x.rep.Status(root)
	read := slices.ContainsFunc(st.Changes, func(c event.Change) bool { return c.Via != "" })
	if root != id && n.Kind == plan.KindTask && !read {
		return n.Addr + ": " + causeOf(st)
	}
	return causeOf(st)
}

// followed returns the dependency that a node follows, or that blocks it. A node with a separate cause has no such dependency.
func (x *execution) followed(id graph.ID) (dep graph.ID, ok bool) {
	if x.rep.IsCached(id) {
		return 0, false
	}
	st := x.rep.Status(id)
	follows := st.Category == event.CauseFollows // also after a failure
	if !follows && categoryOf(st) != "blocked" {
		return 0, false
	}
	for _, dep := range x.project.Plan.Graph.Node(id).Deps {
		if !x.rep.IsCached(dep.On) && (follows || cannotRun(stateOf(x.rep.Status(dep.On)))) {
			return dep.On, true
		}
	}
	return 0, false
}

// feeds returns which nodes a stale node of a cell depends on. A task that no cell needs feeds only nodes that belong to
// no task, such as a submission.
func (x *execution) feeds(ids []graph.ID) []bool {
	feeds := make([]bool, len(ids))
	for i := len(ids) - 1; i >= 0; i-- {
		n := x.project.Plan.Graph.Node(ids[i])
		alone := !feeds[i] && n.Label("task") != ""
		if x.rep.IsCached(ids[i]) || !feeds[i] && !alone && !ofCell(plan.NodeCell(n)) {
			continue
		}
		for _, dep := range n.Deps {
			if j, ok := slices.BinarySearch(ids, dep.On); ok && !(alone && x.project.Plan.Graph.Node(dep.On).Label("task") != "") {
				feeds[j] = true
			}
		}
	}
	return feeds
}

// cannotRun reports whether a node in this state blocks its dependents.
func cannotRun(state string) bool {
	return state == "broken" || state == "failed" || state == "error" || state == "blocked" || state == "skipped"
}

// ofCell reports whether a node belongs to exactly one cell.
func ofCell(c plan.CellID) bool { return c.Solution != "" && c.Backend != "" }
