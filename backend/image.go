package backend

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/cache"
)

// ImageBuilder builds the image that a backend's commands run in. It is safe for concurrent use.
type ImageBuilder interface {
	// Ingredients returns everything that a build depends on, besides the recipe.
	Ingredients(ctx context.Context, dockerfile []byte) (Identity, error)
	// Build builds the image and returns an identifier of its content, which is equal for images that commands
	// cannot distinguish. An error in the recipe is a *SettingError.
	Build(ctx context.Context, r Recipe, out io.Writer) (content []byte, err error)
	// Find reports whether an image with this content digest exists. If so, commands run in it from then on.
	Find(ctx context.Context, content cache.Digest) (bool, error)
}

// Recipe describes an image to build. The backend's options add arguments, platform and network.
type Recipe struct {
	// Dockerfile is its slash-separated path in the context, even if the context excludes it; "" if it is
	// elsewhere.
	Dockerfile string
	Text       []byte       // of the Dockerfile
	Context    cache.Digest // a tree
	Afresh     bool         // do not use the build cache
}
