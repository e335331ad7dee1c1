package tasks

import (
	"context"

	"github.com/fevalgraph/fevalgraph/graph"
)

// Invalid is the task of an invalid problem. Its Describe always fails, so
// dependents are blocked, and it has no stored answer.
type Invalid struct {
	Reason error
}

// Describe implements graph.Task. It always fails.
func (i *Invalid) Describe(context.Context, *graph.Manifest) error {
	return &graph.InputError{Err: i.Reason}
}

// Run implements graph.Task. It is never called.
func (i *Invalid) Run(context.Context, *graph.Work) (graph.Outcome, error) {
	return graph.Outcome{}, &graph.InputError{Err: i.Reason}
}
