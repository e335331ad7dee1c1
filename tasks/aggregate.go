package tasks

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// AggregateCheckpoint is the task that counts the verdicts of a checkpoint,
// its dependency "verdicts", by group, and applies the pass policy. Its result
// is a report.Checkpoint without measurements, its message a pass's caveat.
type AggregateCheckpoint struct {
	Policy Policy
}

// Describe implements graph.Task.
func (a *AggregateCheckpoint) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 2) // 2: "all of no tests" passes a policy that is not strict
	m.String("level", "checkpoint")
	m.String("pass", a.Policy.Text())
	return nil
}

// Run implements graph.Task.
func (a *AggregateCheckpoint) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	var v pytest.Verdicts
	if err := readInput(ctx, w, "verdicts", pytest.OutputVerdicts, &v); err != nil {
		return graph.Outcome{}, err
	}
	c := report.Checkpoint{
		Name: v.Checkpoint, Class: v.Class, ExitCode: v.ExitCode, Collected: v.Collected,
		InfrastructureFailure: v.InfrastructureFailure, Tests: []report.Test{},
	}
	for _, t := range v.Tests {
		c.Tests = append(c.Tests, report.Test{ID: t.ID, File: t.File, Checkpoint: t.Checkpoint, Group: t.Group, Status: t.Status})
	}
	if err := Grade(&c, a.Policy); err != nil {
		return graph.Outcome{}, err
	}
	o, err := writeResult(ctx, w, c)
	o.Message = c.Caveat()
	return o, err
}

// AggregateCell is the task that sums up one solution on one backend. It
// tolerates checkpoints without a result: they make the cell broken.
type AggregateCell struct {
	Checkpoints []string // each a dependency by that name
}

// CellResult is the result of AggregateCell.
type CellResult struct {
	Status      report.Status   `json:"status"`
	Passed      bool            `json:"passed"` // every checkpoint was judged and passed
	Checkpoints []CheckpointSum `json:"checkpoints"`
}

// CheckpointSum is a checkpoint's line in a CellResult.
type CheckpointSum struct {
	Name   string                        `json:"name"`
	Class  report.Class                  `json:"class"`
	Passed bool                          `json:"passed"`
	Groups map[report.Group]report.Count `json:"groups"`
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
	r := CellResult{Passed: len(a.Checkpoints) > 0, Checkpoints: []CheckpointSum{}}
	classes := make([]report.Class, 0, len(a.Checkpoints))
	for _, name := range a.Checkpoints {
		sum := CheckpointSum{Name: name, Class: report.NotJudged}
		if state, _ := w.State(name); usable(state) {
			var c report.Checkpoint
			if err := readInput(ctx, w, name, ResultOutput, &c); err != nil {
				return graph.Outcome{}, err
			}
			sum.Class, sum.Passed, sum.Groups = c.Class, c.Passed, c.Groups
		}
		classes = append(classes, sum.Class)
		r.Passed = r.Passed && sum.Passed
		r.Checkpoints = append(r.Checkpoints, sum)
	}
	r.Status = report.CellStatus(classes)
	return writeResult(ctx, w, r)
}

// AggregateSuite is the task that counts the cells of a suite, its
// dependencies by name. It tolerates cells without a result.
type AggregateSuite struct {
	Cells []string
}

// SuiteResult is the result of AggregateSuite.
type SuiteResult struct {
	Cells    int                   `json:"cells"`
	Passed   int                   `json:"passed"`
	Statuses map[report.Status]int `json:"statuses"`
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
	r := SuiteResult{Cells: len(a.Cells), Statuses: map[report.Status]int{}}
	for _, name := range a.Cells {
		cell := CellResult{Status: report.Broken}
		if state, _ := w.State(name); usable(state) {
			if err := readInput(ctx, w, name, ResultOutput, &cell); err != nil {
				return graph.Outcome{}, err
			}
		}
		r.Statuses[cell.Status]++
		if cell.Passed {
			r.Passed++
		}
	}
	return writeResult(ctx, w, r)
}

func usable(s event.State) bool {
	return s == event.Done || s == event.Cached || s == event.Timeout
}

func readInput(ctx context.Context, w *graph.Work, as, output string, into any) error {
	d, ok := w.Input(as, output)
	if !ok {
		return fmt.Errorf("dependency %q has no output %q", as, output)
	}
	const limit = 1 << 30
	content, err := cache.ReadBlob(ctx, w.Store, d, limit)
	if err != nil {
		return fmt.Errorf("reading the %s of %q: %w", output, as, err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("decoding the %s of %q: %w", output, as, err)
	}
	return nil
}

func writeResult(ctx context.Context, w *graph.Work, result any) (graph.Outcome, error) {
	d, err := putJSON(ctx, w.Store, ResultOutput, result)
	if err != nil {
		return graph.Outcome{}, err
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: ResultOutput, Digest: d}}}, nil
}
