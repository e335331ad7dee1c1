package eval

import (
	"fmt"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/internal/certificates"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// kind returns the kind of a backend block.
func (c *call) kind(b *lang.Backend) kind.Kind {
	for _, k := range c.options.Kinds {
		if k.Name == b.Kind {
			return k
		}
	}
	return kind.Kind{Name: b.Kind}
}

// executor implements plan.Environment.Executor. Only here can a call with read access run programs that the
// project names.
func (c *call) executor(b *lang.Backend, env []string) (plan.Executor, error) {
	k := c.kind(b)
	if k.New == nil {
		return plan.Executor{}, fmt.Errorf("kind %q is not available in this version", b.Kind)
	}
	made, err := k.New(c.site, b, env)
	if err != nil || k.Asks == nil {
		return made, err
	}
	asks := k.Asks(b)
	if c.trust.Adding {
		c.trust.Add(b.Addr(), asks)
		return made, nil
	}
	if c.trust.Allows(asks) {
		return made, nil
	}
	if c.access != Reading {
		return plan.Executor{}, exit.With(exit.Usage, fmt.Errorf("backend %s must be queried, and this project is not trusted to do that: see `fevalgraph trust`, or trust this call with --trust", b.Addr()))
	}
	return kind.Withheld(made, func() error {
		c.untrusted.Do(func() { c.options.Note(options.Untrusted{Asks: c.untrustedAsks()}) })
		return &graph.UnknownError{Err: fmt.Errorf("backend %s is not trusted yet", b.Addr())}
	}), nil
}

// untrustedAsks lists what the project is not trusted with, by backend.
func (c *call) untrustedAsks() (all []string) {
	for _, b := range c.Config.Backends {
		if k := c.kind(b); k.Asks != nil {
			for _, ask := range k.Asks(b) {
				if !c.trust.Allows([]string{ask}) {
					all = append(all, b.Addr()+": "+ask)
				}
			}
		}
	}
	return all
}

// tools implements plan.Environment.Tools.
func (c *call) tools(b *lang.Backend) []string {
	k := c.kind(b)
	if k.Tools == nil {
		return nil
	}
	return append(k.Tools(c.options.Getenv), certificates.System(c.options.Getenv)...)
}

// environments implements plan.Environment.Environments.
func (c *call) environments(b *lang.Backend) string {
	if k := c.kind(b); k.Environments != "" {
		return k.Environments
	}
	dir, err := user.CacheDir(c.options.Getenv)
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "environments")
}
