package tasks

import (
	"context"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// NoSubmission is the task of a checkpoint without code: the solution could not be
// made, and the score is 0, or it never came as far as this checkpoint, and has none.
// Its outputs are those of PutGraded.
type NoSubmission struct {
	Why    string
	Policy verdict.Rule

	NotReached bool
	Checkpoint string // that was not reached; "" where a problem gives scores
}

// Describe implements graph.Task.
func (n *NoSubmission) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	m.String("failed", n.Why)
	m.String("pass", n.Policy.Text())
	if n.NotReached {
		m.String("not reached", n.Checkpoint)
	}
	return nil
}

// Run implements graph.Task.
func (n *NoSubmission) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	c := verdict.Checkpoint{Class: verdict.NoSubmission, Score: verdict.NewScore(0, 0)}
	if n.NotReached {
		c = verdict.Checkpoint{Name: n.Checkpoint, Class: verdict.NotReached}
	}
	if err := Grade(&c, n.Policy); err != nil {
		return graph.Outcome{}, err
	}
	return PutGraded(ctx, w.Store, &c, &verdict.Measurements{Message: n.Why, Tests: []verdict.TestMeasurement{}})
}
