package judge

import (
	"context"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// The outputs of TestData, both blobs. An answer that the case lacks is empty.
const (
	OutputIn  = "in"
	OutputAns = "ans"
)

// TestData is the task that brings the files of one case into the store, bytes
// as they are. Its outputs follow from its manifest.
type TestData struct {
	source *tasks.Source
	hasAns bool
}

// NewTestData returns the task for the files at two absolute paths; ans is ""
// for a case without an answer.
func NewTestData(in, ans string, sources tasks.Sources) *TestData {
	files := []tasks.Named{{Name: OutputIn, Abs: in}}
	if ans != "" {
		files = append(files, tasks.Named{Name: OutputAns, Abs: ans})
	}
	return &TestData{source: tasks.NewNamed(files, nil, sources), hasAns: ans != ""}
}

// Describe implements graph.Task.
func (t *TestData) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Bool("answer", t.hasAns)
	return t.source.Describe(ctx, m)
}

// Predict implements graph.Predictor.
func (t *TestData) Predict() ([]cache.Output, error) {
	outputs := []cache.Output{{Name: OutputIn}, {Name: OutputAns, Digest: cache.SumBytes(nil)}}
	for i, f := range t.source.Found() {
		outputs[i].Digest = f.Digest
	}
	return outputs, nil
}

// Run implements graph.Task.
func (t *TestData) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	w.Phase(graph.Storing)
	if err := t.source.PutFound(ctx, w.Store); err != nil {
		return graph.Outcome{}, err
	}
	if !t.hasAns {
		if _, err := cache.PutBytes(ctx, w.Store, nil); err != nil {
			return graph.Outcome{}, err
		}
	}
	outputs, err := t.Predict()
	return graph.Outcome{Outputs: outputs}, err
}
