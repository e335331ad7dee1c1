package tasks

import (
	"context"

	"github.com/fevalgraph/fevalgraph/graph"
)

// Nothing does the work of a cell without checkpoints, and has no outputs.
type Nothing struct{}

// Describe implements graph.Task.
func (Nothing) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	return nil
}

// Run implements graph.Task.
func (Nothing) Run(context.Context, *graph.Work) (graph.Outcome, error) { return graph.Outcome{}, nil }
