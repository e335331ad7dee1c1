package skypilot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/worker"
)

// Backend returns the pool as a backend.
func (p *Pool) Backend() backend.Backend { return pooledBackend{p} }

// Sandbox returns the pool as a sandbox.
func (p *Pool) Sandbox() backend.Sandbox { return pooledSandbox{p} }

type pooledBackend struct{ *Pool }

// Identity implements backend.Backend.
func (b pooledBackend) Identity(ctx context.Context) (backend.Identity, error) {
	f, err := b.know(ctx, facts.Identity)
	return f.Identity, err
}

// Network implements backend.Backend: clusters keep the ports of commands apart.
func (b pooledBackend) Network() backend.Network { return backend.PrivateNetwork }

// Capabilities implements backend.Backend.
func (b pooledBackend) Capabilities() backend.Capabilities {
	can := backend.Capabilities{
		Python: b, OwnFiles: true,
		BareIdentity: func(ctx context.Context) (backend.Identity, error) {
			f, err := b.know(ctx, facts.Bare)
			return f.Identity, err
		},
		Programs: func(ctx context.Context, words []string) (backend.Identity, error) {
			f, err := b.know(ctx, facts.Programs+strings.Join(words, " "))
			return f.Identity, err
		},
		Isolation: func() string {
			level, _ := b.facts.Get(facts.Isolation) // work has already run on a cluster with this answer
			return level.Text
		},
	}
	if !b.opt.GPUs {
		can.GPU = func(context.Context) error {
			return &backend.AbsentError{Device: "GPU", Err: errors.New("the backend's resources have no accelerators")}
		}
	}
	return can
}

// Interpreter implements backend.Python.
func (b pooledBackend) Interpreter(ctx context.Context) (path, version string, err error) {
	f, err := b.know(ctx, facts.Interpreter)
	return f.Path, f.Text, err
}

// Platform implements backend.Python.
func (b pooledBackend) Platform(ctx context.Context) (string, error) {
	f, err := b.know(ctx, facts.Platform)
	return f.Text, err
}

// preparation is a preparation of sessions. It runs on each cluster.
type preparation struct {
	name string
	cmd  backend.Command
}

// Prepare implements backend.Backend.
func (b pooledBackend) Prepare(ctx context.Context, name string, cmd backend.Command) (snapshot string, exit backend.Exit, err error) {
	c, err := b.acquire(ctx, nil)
	if err != nil {
		return "", backend.Exit{}, err
	}
	defer b.release(c)
	_, exit, err = c.client.Backend().Prepare(ctx, name, cmd)
	if err == nil && exit.Succeeded() {
		cmd.Output, cmd.Errors, cmd.Notes = nil, nil, nil
		b.mu.Lock()
		defer b.mu.Unlock()
		if !slices.ContainsFunc(b.prepared, func(p preparation) bool { return p.name == name }) {
			b.prepared = append(b.prepared, preparation{name, cmd})
		}
		c.prepared[name] = true
	}
	return "", exit, err
}

// lockPreparing waits until no other caller is preparing the cluster.
func (c *cluster) lockPreparing(ctx context.Context) (done func(), err error) {
	select {
	case c.preparing <- struct{}{}:
		return func() { <-c.preparing }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// prepare runs all preparations on a cluster, after verifying its identity.
func (c *cluster) prepare(ctx context.Context) error {
	if err := c.pool.verify(ctx, c, true); err != nil {
		return err
	}
	done, err := c.lockPreparing(ctx)
	if err != nil {
		return err
	}
	defer done()
	c.pool.mu.Lock()
	var missing []preparation
	for _, p := range c.pool.prepared {
		if !c.prepared[p.name] {
			missing = append(missing, p)
		}
	}
	c.pool.mu.Unlock()
	for _, p := range missing {
		_, exit, err := c.client.Backend().Prepare(ctx, p.name, p.cmd)
		if err == nil && !exit.Succeeded() {
			err = fmt.Errorf("the command ended with %+v", exit)
		}
		if err != nil {
			return fmt.Errorf("preparing cluster %s: %w", c.lease.Cluster, err)
		}
		c.pool.mu.Lock()
		c.prepared[p.name] = true
		c.pool.mu.Unlock()
	}
	return nil
}

// Open implements backend.Backend.
func (b pooledBackend) Open(ctx context.Context, spec backend.Spec) (backend.Session, error) {
	c, err := b.acquire(ctx, func(c *worker.Client) bool { return c.Orphaned(spec) })
	if err != nil {
		return nil, err
	}
	var s backend.Session
	if err = c.prepare(ctx); err == nil {
		s, err = c.client.Backend().Open(ctx, spec)
	}
	if err != nil {
		b.release(c)
		return nil, err
	}
	return &session{Session: s, on: c}, nil
}

// session is a session on a cluster, and holds a slot of it.
type session struct {
	backend.Session
	on     *cluster
	closed atomic.Bool
}

// Close implements backend.Session.
func (s *session) Close(ctx context.Context) error {
	if s.closed.Swap(true) {
		return nil
	}
	defer s.on.pool.release(s.on)
	return s.Session.Close(ctx)
}

type pooledSandbox struct{ *Pool }

// Identity implements backend.Sandbox.
func (s pooledSandbox) Identity(ctx context.Context) (backend.Identity, error) {
	f, err := s.know(ctx, facts.Sandbox)
	return f.Identity, err
}

// Run implements backend.Sandbox.
func (s pooledSandbox) Run(ctx context.Context, programs ...backend.Program) ([]backend.Ending, error) {
	c, err := s.acquire(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer s.release(c)
	return c.client.Sandbox().Run(ctx, programs...)
}
