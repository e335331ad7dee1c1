package plan

import (
	"errors"

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
	context := c.addOnce(node(KindContext, d.addr, tasks.NewContext(build.Context, c.sourcesOf(address(KindContext, d.addr)))))
	image := node(KindImage, d.addr, &tasks.Image{Dockerfile: build.Dockerfile, Context: build.Context, Builder: builder, Sources: c.sourcesOf(address(KindImage, d.addr))})
	image.Deps = []graph.Dep{{On: context, As: "context", Outputs: treeOutput}}
	image.Pool, image.Retry = b.Pool, retryOf(nil, b)
	return []graph.Dep{{On: c.addOnce(image), As: "image", Outputs: []string{tasks.ImageOutput}}}, nil
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
