package plan

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// image adds the nodes that build the image of a backend, and returns the edge for nodes that run in it.
func (c *compiler) image(d *driver, b *lang.Backend) ([]graph.Dep, error) {
	builder := d.Capabilities().Images
	if builder == nil {
		return nil, errors.New("it cannot build images")
	}
	build := b.Container.Build
	node := func(kind, of string, task graph.Task) graph.Node {
		return graph.Node{Addr: address(kind, of), Kind: kind, Task: task, Pool: inProcessPool,
			Labels: []graph.Label{{Name: "backend", Value: b.Addr()}}}
	}
	shared := c.builders[d.addr]
	if shared == nil {
		shared = &sharedBuilder{}
		c.builders[d.addr] = shared
	}
	shared.all = append(shared.all, builder)
	files := c.addOnce(node(KindContext, d.addr, tasks.NewContext(build.Context, c.sourcesOf(address(KindContext, d.addr)))))
	image := node(KindImage, d.addr, &tasks.Image{Dockerfile: build.Dockerfile, Context: build.Context, Builder: shared, Sources: c.sourcesOf(address(KindImage, d.addr))})
	image.Deps = []graph.Dep{{On: files, As: "context", Outputs: treeOutput}}
	image.Pool, image.Retry = b.Pool, retryOf(nil, b)
	return []graph.Dep{{On: c.addOnce(image), As: "image", Outputs: []string{tasks.ImageOutput}}}, nil
}

// sharedBuilder builds an image that several variants of a backend use: the first variant builds it, and
// the others find it.
type sharedBuilder struct{ all []backend.ImageBuilder }

// Ingredients implements backend.ImageBuilder. All variants of a backend have the same ingredients.
func (b *sharedBuilder) Ingredients(ctx context.Context, dockerfile []byte) (backend.Identity, error) {
	return b.all[0].Ingredients(ctx, dockerfile)
}

// Build implements backend.ImageBuilder.
func (b *sharedBuilder) Build(ctx context.Context, r backend.Recipe, out io.Writer) ([]byte, error) {
	content, err := b.all[0].Build(ctx, r, out)
	if err != nil {
		return nil, err
	}
	others := &sharedBuilder{b.all[1:]}
	if found, err := others.Find(ctx, cache.SumBytes(content)); err != nil || !found {
		return nil, cmp.Or(err, errNoImage)
	}
	return content, nil
}

// Find implements backend.ImageBuilder.
func (b *sharedBuilder) Find(ctx context.Context, content cache.Digest) (bool, error) {
	for _, one := range b.all {
		if found, err := one.Find(ctx, content); err != nil || !found {
			return false, err
		}
	}
	return true, nil
}

// Images returns the nodes that build images.
func (p *Plan) Images() []graph.ID {
	var ids []graph.ID
	for id := range graph.ID(p.Graph.Len()) {
		if p.Graph.Node(id).Kind == KindImage {
			ids = append(ids, id)
		}
	}
	return ids
}
