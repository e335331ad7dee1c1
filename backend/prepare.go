package backend

import (
	"context"
	"errors"
	"sync"
)

// Preparations runs each preparation of sessions once and caches the snapshots. The zero value is ready to
// use; it is safe for concurrent use.
type Preparations struct {
	mu    sync.Mutex
	known map[preparationKey]*preparation
}

type preparationKey struct {
	backend Backend
	name    string
}

type preparation struct {
	mu       sync.Mutex
	done     bool
	snapshot string
}

// Do returns the snapshot with this name, and calls prepare to make it on first use. Concurrent callers
// with the same name wait for each other; after an error, the next caller tries again.
func (p *Preparations) Do(b Backend, name string, prepare func() (snapshot string, err error)) (snapshot string, err error) {
	one := p.preparationOf(b, name)
	one.mu.Lock()
	defer one.mu.Unlock()
	if !one.done {
		if one.snapshot, err = prepare(); err != nil {
			return "", err
		}
		one.done = true
	}
	return one.snapshot, nil
}

// Forget drops a snapshot, so that the next call of Do prepares again.
func (p *Preparations) Forget(b Backend, name string) {
	one := p.preparationOf(b, name)
	one.mu.Lock()
	defer one.mu.Unlock()
	one.done = false
}

func (p *Preparations) preparationOf(b Backend, name string) *preparation {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := preparationKey{b, name}
	if p.known == nil {
		p.known = map[preparationKey]*preparation{}
	}
	if p.known[key] == nil {
		p.known[key] = &preparation{}
	}
	return p.known[key]
}

// PrepareShared implements Prepare for backends whose sessions share files, by running cmd in a separate
// session.
func PrepareShared(ctx context.Context, b Backend, cmd Command) (Exit, error) {
	cmd.Online = true
	return Once(ctx, b, Spec{Name: "prepare"}, cmd)
}

// Once runs a command in a separate session.
func Once(ctx context.Context, b Backend, spec Spec, cmd Command) (exit Exit, err error) {
	s, err := b.Open(ctx, spec)
	if s != nil {
		defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	}
	if err != nil {
		return Exit{}, err
	}
	return s.Exec(ctx, cmd)
}
