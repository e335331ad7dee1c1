package tasks

import (
	"context"

	"github.com/fevalgraph/fevalgraph/graph"
)

// Invalid is the task of a problem that the configuration describes in a way
// that cannot be evaluated. It fails, as unusable input, whenever it is
// looked at; what needs it is blocked, and nothing of it is ever stored.
type Invalid struct {
	Reason error
}

// Describe implements graph.Task. It always fails.
func (i *Invalid) Describe(context.Context, *graph.Manifest) error {
	return &graph.InputError{Err: i.Reason}
}

// Run implements graph.Task. It is not reached.
func (i *Invalid) Run(context.Context, *graph.Work) (graph.Outcome, error) {
	return graph.Outcome{}, &graph.InputError{Err: i.Reason}
}
