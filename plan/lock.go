package plan

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// LockAll asks for the pinned requirements of every pytest node.
func (p *Plan) LockAll(ctx context.Context) error {
	for id := range graph.ID(p.Graph.Len()) {
		n := p.Graph.Node(id)
		run, ok := n.Task.(*pytest.Run)
		if !ok {
			continue
		}
		if _, err := run.Pins(ctx); err != nil {
			return fmt.Errorf("locking the requirements of problem %s: %w", n.Label("problem"), err)
		}
	}
	return nil
}
