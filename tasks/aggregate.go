package tasks

import (
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/event"
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
	o, err := putResult(ctx, w, c)
	o.Message, o.Verdict = c.Caveat(), announce(&c)
	return o, err
}

// AggregateCell is the task that summarizes a solution on a backend. Its
// result is a verdict.Cell. It tolerates checkpoints without a result, which
// make the cell broken.
type AggregateCell struct {
	Checkpoints []string // each a dependency by that name
}

// Describe implements graph.Task.
func (a *AggregateCell) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	m.String("level", "cell")
	m.Strings("checkpoints", a.Checkpoints)
	return nil
}

// Run implements graph.Task.
func (a *AggregateCell) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	sums := make([]verdict.CheckpointSummary, len(a.Checkpoints))
	for i, name := range a.Checkpoints {
		sums[i] = verdict.CheckpointSummary{Name: name, Class: verdict.NotJudged}
		state, _ := w.State(name)
		if !usable(state) {
			continue
		}
		var c verdict.Checkpoint
		if err := session.ReadInputJSON(ctx, w, name, ResultOutput, &c); err != nil {
			return graph.Outcome{}, err
		}
		sums[i] = c.Summary()
		sums[i].Name = name
	}
	return putResult(ctx, w, verdict.SumCell(sums))
}

// AggregateSuite is the task that counts the cells of a suite, its dependencies
// by name. Its result is a verdict.Suite. It tolerates cells without a result.
type AggregateSuite struct {
	Cells []string
}

// Describe implements graph.Task.
func (a *AggregateSuite) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	m.String("level", "suite")
	m.Strings("cells", a.Cells)
	return nil
}

// Run implements graph.Task.
func (a *AggregateSuite) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	cells := make([]verdict.Cell, len(a.Cells))
	for i, name := range a.Cells {
		cells[i].Status = verdict.Broken
		if state, _ := w.State(name); usable(state) {
			if err := session.ReadInputJSON(ctx, w, name, ResultOutput, &cells[i]); err != nil {
				return graph.Outcome{}, err
			}
		}
	}
	return putResult(ctx, w, verdict.SumSuite(cells))
}

func usable(s event.State) bool {
	return s == event.Done || s == event.Cached || s == event.Timeout
}

func putResult(ctx context.Context, w *graph.Work, result any) (graph.Outcome, error) {
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	k.JSON(ResultOutput, result)
	return k.Outcome, k.Err
}
