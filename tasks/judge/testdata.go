package judge

import (
	"context"
	"errors"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// The outputs of TestData, both blobs. A missing answer is an empty blob.
const (
	OutputIn  = "in"
	OutputAns = "ans"
)

// TestData is the task that stores the files of a case, unchanged. Its outputs
// follow from its manifest.
type TestData struct {
	source *tasks.Files
	hasAns bool
}

// NewTestData returns the task for the files that are named OutputIn and, if the case has an
// answer, OutputAns.
func NewTestData(source *tasks.Files, hasAns bool) *TestData {
	return &TestData{source: source, hasAns: hasAns}
}

// Describe implements graph.Task.
func (t *TestData) Describe(ctx context.Context, m *graph.Manifest) error {
	m.Bool("answer", t.hasAns)
	return t.source.Describe(ctx, m)
}

// Predict implements graph.Predictor.
func (t *TestData) Predict() ([]cache.Output, error) {
	if !t.source.Known() {
		return nil, errors.New("a task makes it")
	}
	return outputsOf(t.source.Found()), nil
}

func outputsOf(files []cache.Entry) []cache.Output {
	outputs := []cache.Output{{Name: OutputIn}, {Name: OutputAns, Digest: cache.SumBytes(nil)}}
	for i, f := range files {
		outputs[i].Digest = f.Digest
	}
	return outputs
}

// Run implements graph.Task.
func (t *TestData) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	files, err := t.source.Put(ctx, w)
	if err != nil {
		return graph.Outcome{}, err
	}
	if !t.hasAns {
		if _, err := cache.PutBytes(ctx, w.Store, nil); err != nil {
			return graph.Outcome{}, err
		}
	}
	return graph.Outcome{Outputs: outputsOf(files)}, nil
}
