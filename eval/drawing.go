package eval

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/eval/pages"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// The ways to fold nodes into one box of a drawing.
const (
	FoldKind = "kind" // all of a kind
	FoldCell = "cell" // all that only one cell has
)

// NodeStates decides about nodes and returns the state of each for a drawing, and how long its work
// took or is expected to take.
func (p *Project) NodeStates(ctx context.Context, ids []graph.ID) (func(graph.ID) graph.NodeState, error) {
	x, err := p.decideOn(ctx, ids...)
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

// WriteSVG writes a drawing as the page of a cell shows it.
func WriteSVG(w io.Writer, d *graph.Drawing) error { return pages.Flow(d).WriteSVG(w, "graph") }
