package describe

import (
	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/view"
)

// PlanNode returns the description of a decision in a plan. The node of a checkpoint is named after the
// checkpoint, and that of a cell without checkpoints after the cell.
func PlanNode(d *eval.Decision) view.PlanNode {
	n := view.PlanNode{Addr: d.Addr, State: d.State, Cause: d.Cause, Category: d.Category, Root: d.Root, RootCategory: d.RootCategory, RootState: d.RootState, Feeds: d.Feeds}
	if d.Cell.Solution == "" || d.Cell.Backend == "" {
		return n
	}
	n.Cell, n.In = d.Cell.Cell().String(), d.Cell.Problem
	if d.Cell.Checkpoint == "" && d.Kind == "aggregate" {
		return n
	}
	n.Checkpoint, n.Of = d.Cell.String(), d.Cell.Problem
	if d.Cell.Checkpoint != "" {
		n.Of += "/" + d.Cell.Checkpoint
	}
	return n
}
