package gen

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/gen/answer"
	"github.com/fevalgraph/fevalgraph/gen/model"
	"github.com/fevalgraph/fevalgraph/graph"
)

// reading is the task that turns an answer into files. An unusable answer is a permanent failure: reading it
// again has the same result.
type reading struct {
	unnamed string
	only    bool // a solution is exactly that file
	later   bool // a checkpoint precedes it
}

// Describe implements graph.Task. Raising the recipe reads stored answers again, without requests.
func (r *reading) Describe(_ context.Context, m *graph.Manifest) error {
	m.Int("recipe", 3) // 3: the last block in the wanted language
	m.String("file", r.unnamed)
	m.Bool("only", r.only)
	return nil
}

// Run implements graph.Task.
func (r *reading) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	record, err := input(ctx, w, fromAnswer, usageOutput, 1<<20)
	if err != nil {
		return graph.Outcome{}, err
	}
	var how ended
	if err := json.Unmarshal(record, &how); err != nil {
		return graph.Outcome{}, fmt.Errorf("reading how an answer ended: %w", err)
	}
	switch how.Finish {
	case "length":
		return failed("the answer was cut off at its limit of tokens"), nil
	case "content_filter":
		return failed("the endpoint's filter withheld the answer"), nil
	}
	text, err := input(ctx, w, fromAnswer, answerOutput, model.MaxAnswer*4) // masks can make it longer
	if err != nil {
		return graph.Outcome{}, err
	}
	var before []answer.File
	if r.later {
		if before, err = filesOf(ctx, w, fromBefore); err != nil {
			return graph.Outcome{}, err
		}
	}
	files, note, err := r.files(string(text), before)
	if err != nil {
		return failed(err.Error()), nil
	}
	root, err := putTree(ctx, w.Store, files)
	return graph.Outcome{Outputs: []cache.Output{root}, Message: note}, err
}

func (r *reading) files(text string, before []answer.File) (files []answer.File, note string, err error) {
	if r.only {
		return answer.Only(text, r.unnamed)
	}
	return answer.Files(text, r.unnamed, before)
}

func failed(why string) graph.Outcome {
	return graph.Outcome{Class: cache.ClassFailed, Message: why}
}

// putTree stores files.
func putTree(ctx context.Context, s cache.Store, files []answer.File) (cache.Output, error) {
	var entries []cache.Entry
	for _, f := range files {
		d, err := cache.PutBytes(ctx, s, []byte(f.Content))
		if err != nil {
			return cache.Output{}, err
		}
		entries = append(entries, cache.Entry{Path: f.Path, Digest: d})
	}
	t, err := cache.BuildTree(entries)
	if err != nil {
		return cache.Output{}, err
	}
	return cache.Output{Name: treeOutput, Digest: t.Root, Tree: true}, t.Store(ctx, s)
}

// filesOf reads the files of a dependency.
func filesOf(ctx context.Context, w *graph.Work, from string) ([]answer.File, error) {
	root, ok := w.Input(from, treeOutput)
	if !ok {
		return nil, fmt.Errorf("dependency %q has no files", from)
	}
	var files []answer.File
	err := cache.WalkTree(ctx, w.Store, root, func(e cache.Entry) error {
		if e.Dir {
			return nil
		}
		content, err := cache.ReadBlob(ctx, w.Store, e.Digest, answer.MaxBytes)
		files = append(files, answer.File{Path: e.Path, Content: string(content)})
		return err
	})
	return files, err
}
