package command

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// FromTask is the name of the dependency of Figures, a Task.
const FromTask = "task"

// OutputFigures is the output of Figures: a JSON object of numbers.
const OutputFigures = "figures"

// Figures is the task that renames the metrics of a Task to the names in results:
// TASK.METRIC. A refused submission has no metrics.
type Figures struct {
	Task    string
	Metrics []string // outputs of the dependency
}

// Describe implements graph.Task.
func (f *Figures) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 1)
	m.String("task", f.Task)
	m.Strings("metrics", f.Metrics)
	return nil
}

// Run implements graph.Task.
func (f *Figures) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	figures := map[string]float64{}
	for _, name := range f.Metrics {
		d, ok := w.Input(FromTask, name)
		if !ok {
			return graph.Outcome{}, fmt.Errorf("dependency %q has no output %q", FromTask, name)
		}
		values, err := ReadMetrics(ctx, w.Store, d)
		if err != nil {
			return graph.Outcome{}, fmt.Errorf("reading the metrics %q: %w", name, err)
		}
		for metric, value := range values {
			figures[f.Task+"."+metric] = value
		}
	}
	return putFigures(ctx, w, figures)
}

// Refused implements graph.Refuser.
func (f *Figures) Refused(ctx context.Context, w *graph.Work, _ string) (graph.Outcome, error) {
	return putFigures(ctx, w, map[string]float64{})
}

func putFigures(ctx context.Context, w *graph.Work, figures map[string]float64) (graph.Outcome, error) {
	k := session.Keeper{Ctx: ctx, Store: w.Store}
	k.JSON(OutputFigures, figures)
	return k.Outcome, k.Err
}
