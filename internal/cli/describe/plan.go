package describe

import (
	"strings"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/view"
)

// PlanNode returns the description of a decision in a plan. The node of a checkpoint is named after the
// checkpoint, that of a cell without checkpoints after the cell, and that of a task that no cell needs after the
// task.
func PlanNode(d *eval.Decision) view.PlanNode {
	n := view.PlanNode{Addr: d.Addr, State: d.State, Cause: d.Cause, Category: d.Category, Root: d.Root, RootCategory: d.RootCategory, RootState: d.RootState, Feeds: d.Feeds}
	if d.Task != "" && !d.Feeds {
		n.Cell = plan.KindTask + ":" + d.Task
		n.Of, _, _ = strings.Cut(n.Cell, "[")
		n.In = n.Of
		if n.Task = d.Kind == plan.KindTask; n.Task {
			n.Checkpoint = n.Cell
		}
		return n
	}
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
