package backend

import "github.com/fevalgraph/fevalgraph/cache"

// Recipe is what an image is built of, beside what a backend's own options
// say: arguments, platform, network.
type Recipe struct {
	// Dockerfile is its slash-separated path in the context, also when the
	// context leaves it out; "" when it lies elsewhere.
	Dockerfile string
	Text       []byte       // of the Dockerfile
	Context    cache.Digest // a tree
	Afresh     bool         // take nothing from earlier builds
}

// RecipeError says that an image cannot be made as it is described: its
// Dockerfile is wrong, or a command in it fails. That is for whoever wrote it to
// mend, and neither a verdict nor the machinery's fault.
type RecipeError struct{ Err error }

func (e *RecipeError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RecipeError) Unwrap() error { return e.Err }
