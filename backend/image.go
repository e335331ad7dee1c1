package backend

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/cache"
)

// ImageBuilder makes the image that a backend's commands run in. It is safe for
// concurrent use.
type ImageBuilder interface {
	// Ingredients returns what a build depends on besides the recipe.
	Ingredients(ctx context.Context, dockerfile []byte) (Identity, error)
	// Build makes the image and returns what its content is, the same for
	// images between which commands cannot tell. What is wrong with the recipe
	// is a *SettingError.
	Build(ctx context.Context, r Recipe, out io.Writer) (content []byte, err error)
	// Find reports whether an image with the content of that digest is there,
	// and has commands run in it.
	Find(ctx context.Context, content cache.Digest) (bool, error)
}

// Recipe describes an image to build, together with the backend's options: arguments, platform, network.
type Recipe struct {
	// Dockerfile is its slash-separated path in the context, also when the
	// context leaves it out; "" when it lies elsewhere.
	Dockerfile string
	Text       []byte       // of the Dockerfile
	Context    cache.Digest // a tree
	Afresh     bool         // take nothing from earlier builds
}
