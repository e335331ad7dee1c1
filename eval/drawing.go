package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// The ways to fold nodes into one box of a drawing.
const (
	FoldKind = "kind" // all of a kind
	FoldCell = "cell" // all that only one cell has
)

// Looks decides about nodes and returns how each looks in a drawing: its state, and how long its work
// took or is expected to take.
func (p *Project) Looks(ctx context.Context, ids []graph.ID) (func(graph.ID) graph.Look, error) {
	rep, err := p.decide(ctx, goals{targets: ids})
	if err != nil {
		return nil, err
	}
	return func(id graph.ID) graph.Look {
		st := rep.Status(id)
		l := graph.Look{State: stateOf(st), Seconds: st.Saved}
		if l.State != Fresh {
			l.Seconds = st.Expected
		}
		return l
	}, nil
}

// Fold returns the name of the box of a node; "" if it has its own.
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
