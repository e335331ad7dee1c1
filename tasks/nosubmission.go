package tasks

import (
	"context"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// NoSubmission is the task of a checkpoint without code: either the solution could not
// be produced, and the score is 0, or it did not reach this checkpoint, and has no
// score. Its outputs are those of PutGraded.
type NoSubmission struct {
	Why    string
	Policy verdict.Rule

	NotReached bool
	Checkpoint string // "" if the problem gives a single score
}

// Describe implements graph.Task.
func (n *NoSubmission) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 2) // 2: the stored form omits empty fields
	m.String("failed", n.Why)
	m.String("pass", n.Policy.Text())
	if n.NotReached {
		m.String("not reached", n.Checkpoint)
	} else if n.Checkpoint != "" {
		m.String("checkpoint", n.Checkpoint)
	}
	return nil
}

// Run implements graph.Task.
func (n *NoSubmission) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	c := verdict.Checkpoint{Name: n.Checkpoint, Class: verdict.NoSubmission, Score: verdict.NewScore(0, 0)}
	if n.NotReached {
		c = verdict.Checkpoint{Name: n.Checkpoint, Class: verdict.NotReached}
	}
	return putUnjudged(ctx, w.Store, &c, n.Policy, n.Why)
}

// PutRefused stores the result of a refused submission as the outputs of a task that
// gives a score. The checkpoint is "" if the problem has a single score.
func PutRefused(ctx context.Context, store cache.Store, checkpoint string, policy verdict.Rule, why string) (graph.Outcome, error) {
	return putUnjudged(ctx, store, &verdict.Checkpoint{Name: checkpoint, Class: verdict.Refused, Score: verdict.NewScore(0, 0)}, policy, why)
}

func putUnjudged(ctx context.Context, store cache.Store, c *verdict.Checkpoint, policy verdict.Rule, why string) (graph.Outcome, error) {
	if err := Grade(c, policy); err != nil {
		return graph.Outcome{}, err
	}
	return PutGraded(ctx, store, c, &verdict.Measurements{Message: why, Tests: []verdict.TestMeasurement{}})
}
