package plan

import (
	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// remoteHost names the machine that a backend's commands run on; "" is this one.
func remoteHost(b backend.Backend) string {
	if host := b.Capabilities().RemoteHost; host != nil {
		return host()
	}
	return ""
}

// mounts adds the nodes that tell what is mounted on a backend, and returns the
// edges of what runs there and the tasks of the nodes.
func (c *compiler) mounts(b *lang.Backend, on backend.Backend) (deps []graph.Dep, hashed []*tasks.Mount) {
	if b.Container == nil {
		return nil, nil
	}
	for _, m := range b.Container.Mounts {
		if m.Unhashed {
			continue
		}
		addr := KindMount + ":" + b.Addr() + m.Target
		sources := c.sourcesOf(addr)
		task := &tasks.Mount{Target: m.Target, Source: m.Source, States: sources.States, Observe: sources.Observe, RemoteHost: func() string { return remoteHost(on) }}
		id := c.once(graph.Node{Addr: addr, Kind: KindMount, Task: task, Pool: inProcessPool,
			Labels: []graph.Label{{Name: "kind", Value: KindMount}, {Name: "backend", Value: b.Addr()}}})
		deps = append(deps, graph.Dep{On: id, As: "mount " + m.Target, Outputs: []string{tasks.MountOutput}})
		hashed = append(hashed, task)
	}
	return deps, hashed
}
