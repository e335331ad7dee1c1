package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// driver is a backend of the configuration with its environment and its
// identity, which is resolved once per run.
type driver struct {
	backend.Backend
	handle  *BackendHandle
	addr    string             // of the backend, with the overrides of a problem
	base    []session.Variable // the backend's part of the environment
	image   []graph.Dep        // edge to the node that builds the image, if any
	mounts  []graph.Dep        // edges to the content of its mounts
	mounted []*tasks.Mount     // tasks of the mounts
}

// needsPython returns an error for a backend without an interpreter.
func (d *driver) needsPython() error {
	if d.Capabilities().Python == nil {
		return fmt.Errorf("backend %s has no Python interpreter", d.addr)
	}
	return nil
}

func (c *compiler) driver(b *lang.Backend) (*driver, error) {
	if d, ok := c.backends[b]; ok {
		return d, nil
	}
	d := &driver{addr: placeOf(b), base: c.env.baseOf(b)}
	err := c.start(d, b)
	if err != nil {
		return nil, err
	}
	if b.Container != nil && b.Container.Build != nil {
		if d.image, err = c.image(d, b); err != nil {
			return nil, fmt.Errorf("backend %s: %w", b.Addr(), err)
		}
		d.handle.Use.Dockerfile, d.handle.image = b.Container.Build.Dockerfile, d.image[0].On
	}
	d.mounts, d.mounted = c.mounts(b, d.Backend)
	d.handle.Use.Mounts = len(d.mounts) > 0
	c.backends[b] = d
	return d, nil
}

// start creates the backend of d. Its environment must be set.
func (c *compiler) start(d *driver, b *lang.Backend) error {
	var err error
	if d.handle, err = c.open(b, Use{}); err != nil {
		return err
	}
	if d.Backend = d.handle.made.Backend; d.Backend == nil {
		return fmt.Errorf("backend %s: a backend of the kind %q does not run commands", b.Addr(), b.Kind)
	}
	return nil
}

// baseOf returns the environment of a backend block, lowest first: defaults, paths of tools, passed
// through, inherited, set. Images keep their time zone.
func (e Environment) baseOf(b *lang.Backend) []session.Variable {
	base := []session.Variable{{Name: "LANG", Value: "C.UTF-8"}}
	if b.Container == nil {
		base = append(base, session.Variable{Name: "TZ", Value: "UTC"})
	}
	if e.Tools != nil {
		for _, variable := range e.Tools(b) {
			name, value, _ := strings.Cut(variable, "=")
			base = append(base, session.Variable{Name: name, Value: value, Unhashed: true})
		}
	}
	if b.Python != "" {
		// For uv in set-up commands and tests; its version is part of the identity.
		base = append(base, session.Variable{Name: "UV_PYTHON", Value: b.Python, Unhashed: true})
	}
	for _, name := range b.Passthrough {
		if value, ok := e.LookupEnv(name); ok {
			base = append(base, session.Variable{Name: name, Value: value, Unhashed: true, Passed: true})
		}
	}
	for _, name := range b.Inherit {
		if value, ok := e.LookupEnv(name); ok {
			base = append(base, session.Variable{Name: name, Value: value})
		}
	}
	return append(base, vars(b.Env)...)
}

func (d *driver) environ(own []lang.EnvVar) []session.Variable {
	return append(slices.Clip(d.base), vars(own)...) // without overrides, all nodes share the list
}

func vars(env []lang.EnvVar) []session.Variable {
	out := make([]session.Variable, len(env))
	for i, v := range env {
		out[i] = session.Variable{Name: v.Name, Value: v.Value, Secret: v.Secret}
	}
	return out
}
