package tasks

import (
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
	"github.com/fevalgraph/fevalgraph/tasks/session"
	"github.com/fevalgraph/fevalgraph/verdict"
)

// AggregateCheckpoint is the task that counts the verdicts of a checkpoint,
// its dependency "verdicts", by group, and applies the pass policy. Its result
// is a verdict.Checkpoint, and its message the caveat of a pass.
type AggregateCheckpoint struct {
	Policy      verdict.Rule
	OmitSkipped bool // do not count skipped tests
}

// Describe implements graph.Task.
func (a *AggregateCheckpoint) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 3) // 3: the stored form omits empty fields
	m.String("level", "checkpoint")
	m.String("pass", a.Policy.Text())
	if a.OmitSkipped {
		m.String("skipped tests", "omit")
	}
	return nil
}

// Run implements graph.Task.
func (a *AggregateCheckpoint) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var c verdict.Checkpoint
	if err := session.ReadInputJSON(ctx, w, "verdicts", pytest.OutputVerdicts, &c); err != nil {
		return graph.Outcome{}, err
	}
	all := c.Tests
	if a.OmitSkipped {
		c.Tests = slices.DeleteFunc(slices.Clone(all), func(t verdict.Test) bool { return t.Status == verdict.TestSkipped })
	}
	if err := Grade(&c, a.Policy); err != nil {
		return graph.Outcome{}, err
	}
	c.Tests = all
	k := session.Keeper{Ctx: ctx, Store: w.Store, Outcome: graph.Outcome{Message: c.Caveat(), Verdict: announce(&c)}}
	k.JSON(ResultOutput, c)
	return k.Outcome, k.Err
}
