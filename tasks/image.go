package tasks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/capped"
	"github.com/fevalgraph/fevalgraph/internal/subpath"
)

// Image is the task that builds an image. Its input is the tree "context"; its
// outputs are ImageOutput, which identifies the image, and graph.LogOutput.
type Image struct {
	Dockerfile string // absolute path
	Context    string // absolute path of the context's root
	Builder    backend.ImageBuilder
	Sources    Sources

	text   []byte           // of the last Describe
	needed backend.Identity // of the last Describe
}

// ImageOutput is the name of the output that identifies the content of an image.
const ImageOutput = "image"

// imageRecipe must be incremented if images are built differently.
const imageRecipe = 1

// Describe implements graph.Task.
func (i *Image) Describe(ctx context.Context, m *graph.Manifest) error {
	i.Sources.observe("file", i.Dockerfile)
	text, err := os.ReadFile(i.Dockerfile)
	if err != nil {
		return &graph.InputError{Err: fmt.Errorf("reading the Dockerfile: %w", err)}
	}
	needed, err := i.Builder.Ingredients(ctx, text)
	if err != nil {
		return markUserError(err)
	}
	i.text, i.needed = text, needed
	m.Int("recipe", imageRecipe)
	m.String("Dockerfile", cache.SumBytes(text).String())
	if name := i.inContext(); name != "" {
		m.String("Dockerfile in the context", name) // COPY could add it
	}
	for _, f := range needed {
		m.String(f.Label, f.Value)
	}
	return nil
}

// inContext returns the Dockerfile's path in the context, or "" if it is elsewhere.
func (i *Image) inContext() string {
	rel, _ := subpath.Rel(i.Context, i.Dockerfile)
	return rel
}

// Run implements graph.Task.
func (i *Image) Run(ctx context.Context, w *graph.Work) (graph.Outcome, error) {
	tree, _ := w.Input("context", TreeOutput)
	if err := i.checkUnchanged(ctx, w.Store, tree); err != nil {
		return graph.Outcome{}, err
	}
	recipe := backend.Recipe{Dockerfile: i.inContext(), Text: i.text, Context: tree, Afresh: w.Forced}
	var log capped.Buffer
	content, err := i.Builder.Build(ctx, recipe, io.MultiWriter(&log, w.Log))
	if err != nil {
		return graph.Outcome{}, markUserError(err)
	}
	// A name might have been moved to another image during the build.
	needed, err := i.Builder.Ingredients(ctx, i.text)
	if err != nil {
		return graph.Outcome{}, markUserError(err)
	}
	for n := range needed {
		if len(needed) != len(i.needed) || needed[n] != i.needed[n] {
			return graph.Outcome{}, fmt.Errorf("building from %s: %s now refers to another image: %w", i.Dockerfile, needed[n].Label, &cache.ChangedError{Path: i.Dockerfile})
		}
	}
	digest, err := cache.PutBytes(ctx, w.Store, content)
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("storing the identity of the image: %w", err)
	}
	printed, err := cache.PutBytes(ctx, w.Store, log.Bytes())
	if err != nil {
		return graph.Outcome{}, fmt.Errorf("storing the output of the build: %w", err)
	}
	return graph.Outcome{Outputs: []cache.Output{{Name: ImageOutput, Digest: digest}, {Name: graph.LogOutput, Digest: printed}}}, nil
}

// checkUnchanged compares the Dockerfile of the context with the Dockerfile that was read.
func (i *Image) checkUnchanged(ctx context.Context, store cache.Store, tree cache.Digest) error {
	name := i.inContext()
	return cache.WalkTree(ctx, store, tree, func(e cache.Entry) error {
		if name != "" && e.Path == name && e.Link == "" && e.Digest != cache.SumBytes(i.text) {
			return &cache.ChangedError{Path: i.Dockerfile}
		}
		return nil
	})
}

// Validate implements graph.Validator: images can be removed outside of fevalgraph.
func (i *Image) Validate(ctx context.Context, outputs []cache.Output) (string, error) {
	for _, o := range outputs {
		if o.Name != ImageOutput {
			continue
		}
		found, err := i.Builder.Find(ctx, o.Digest)
		if err != nil || found {
			return "", err
		}
	}
	return "the image no longer exists", nil
}

// markUserError reports err as a configuration error if it is about the recipe.
func markUserError(err error) error {
	var setting *backend.SettingError
	if errors.As(err, &setting) {
		return &graph.InputError{Err: setting}
	}
	return err
}
