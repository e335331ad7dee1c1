package plan

import (
	"fmt"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// remoteHost returns the machine that a backend's commands run on, or "" for this machine.
func remoteHost(b backend.Backend) string {
	if host := b.Capabilities().RemoteHost; host != nil {
		return host()
	}
	return ""
}

// mounts adds the nodes that hash the mounts of a backend, and returns the
// edges of the nodes that run there and the tasks of the mounts.
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
		task := &tasks.Mount{Name: "mount " + m.Target, Source: m.Source, Hint: `content = "unhashed" keeps it out of keys`, States: sources.States, Observe: sources.Observe, RemoteHost: func() string { return remoteHost(on) }}
		id := c.addOnce(graph.Node{Addr: addr, Kind: KindMount, Task: task, Pool: inProcessPool,
			Labels: []graph.Label{{Name: "backend", Value: b.Addr()}}})
		deps = append(deps, graph.Dep{On: id, As: "mount " + m.Target, Outputs: []string{tasks.MountOutput}})
		hashed = append(hashed, task)
	}
	return deps, hashed
}

// readablePaths lists the paths of this machine that commands of one node can read because the configuration names
// them.
type readablePaths struct {
	deps      []graph.Dep
	unchanged []func() error // returns an error if a file changed since its digest entered the key
}

// readablePaths adds the nodes that hash the mounts of a backend, the files and directories that
// lines and values of variables name, and the files that requirements name.
func (c *compiler) readablePaths(d *driver, b *lang.Backend, own []lang.EnvVar, requires []string, lines ...string) readablePaths {
	s := readablePaths{deps: slices.Clone(d.mounts)}
	for _, m := range d.mounted {
		s.unchanged = append(s.unchanged, m.Unchanged)
	}
	shown := d.Capabilities().Shown
	if shown == nil {
		return s
	}
	var values []string
	for _, v := range d.environ(own) {
		// PATH contains programs, which are part of the backend's identity.
		if v.Secret == "" && !v.Unhashed && v.Name != "PATH" && v.Name != "UV_CACHE_DIR" {
			values = append(values, v.Value)
		}
	}
	add := func(what, path string, required bool) {
		addr := KindMount + ":" + b.Addr() + path
		if required {
			addr += " required"
		}
		id, ok := c.plan.Graph.Lookup(addr)
		if !ok {
			sources := c.sourcesOf(addr)
			task := &tasks.Mount{
				Name: what, Source: path, Optional: true, NoCaches: true, Hint: fmt.Sprintf("unhashed = [%q] of the backend keeps it out of keys", path),
				States: sources.States, Observe: sources.Observe,
			}
			if required {
				task.NotDirectory = "and uv does not notice every change in it (hint: require a wheel that is built from it, or add it as an asset and to PYTHONPATH)"
			}
			id = c.plan.Graph.Add(graph.Node{Addr: addr, Kind: KindMount, Task: task, Pool: inProcessPool,
				Labels: []graph.Label{{Name: "backend", Value: b.Addr()}}})
		}
		s.deps = append(s.deps, graph.Dep{On: id, As: what, Outputs: []string{tasks.MountOutput}})
		if m, ok := c.plan.Graph.Node(id).Task.(*tasks.Mount); ok { // pinned nodes have none
			s.unchanged = append(s.unchanged, m.Unchanged)
		}
	}
	for _, p := range shown(lines, values) {
		add("file "+p.Name, p.Path, false)
	}
	for _, r := range requires {
		if path := requirements.File(r); path != "" {
			add("requirement "+r, path, true)
		}
	}
	return s
}
