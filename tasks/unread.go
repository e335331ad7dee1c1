package tasks

import (
	"context"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Unread is the task of a submission that is refused without being read.
type Unread struct {
	Why string
}

// Describe implements graph.Task.
func (u *Unread) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	m.String(graph.RefusedOutput, u.Why)
	return nil
}

// Run implements graph.Task.
func (u *Unread) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	return session.Refuse(ctx, w.Store, u.Why)
}
