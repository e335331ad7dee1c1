package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Ways to fold several nodes into a box of a drawing.
const (
	FoldKind = "kind" // all nodes of a kind
	FoldCell = "cell" // all nodes that belong to one cell alone
)

// NodeStates decides nodes and returns a function for drawings: the state of a node, and the actual or expected
// duration of its work.
func (p *Project) NodeStates(ctx context.Context, ids []graph.ID) (func(graph.ID) graph.NodeState, error) {
	x, err := p.goalsOf(ids).decide(ctx, false)
	if err != nil {
		return nil, err
	}
	return func(id graph.ID) graph.NodeState {
		st := x.rep.Status(id)
		s := graph.NodeState{State: stateOf(st), Seconds: st.Saved}
		if s.State != Fresh {
			s.Seconds = st.Expected
		}
		return s
	}, nil
}

// Fold returns a function that names the box of a node; "" means a separate box.
func Fold(how string) func(*graph.Node) string {
	return func(n *graph.Node) string {
		switch how {
		case FoldKind:
			return n.Kind
		case FoldCell:
			if cell := plan.NodeCell(n).Cell(); cell.Repeat > 0 {
				return cell.String()
			}
		}
		return ""
	}
}
