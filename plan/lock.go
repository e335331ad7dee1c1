package plan

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/command"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// LockAll pins the requirements of every node that runs pytest, or a task with requirements.
func (p *Plan) LockAll(ctx context.Context) error {
	for id := range graph.ID(p.Graph.Len()) {
		n := p.Graph.Node(id)
		var pins func(context.Context) ([]string, error)
		whose := "problem " + n.Label("problem")
		switch t := n.Task.(type) {
		case *pytest.Run:
			pins = t.Pins
		case *command.Task:
			if t.Python != nil {
				pins, whose = t.Python.Pins, "task "+n.Label("task")
			}
		}
		if pins == nil {
			continue
		}
		if _, err := pins(ctx); err != nil {
			return fmt.Errorf("locking the requirements of %s: %w", whose, err)
		}
	}
	return nil
}
