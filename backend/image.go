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
