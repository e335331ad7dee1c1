package backend

import (
	"context"
	"errors"
)

// PrepareShared is Prepare for backends whose sessions share files: it runs
// cmd in a session of its own.
func PrepareShared(ctx context.Context, b Backend, cmd Command) (Exit, error) {
	cmd.Online = true
	return Once(ctx, b, Spec{Name: "prepare"}, cmd)
}

// Once runs a command in a session of its own.
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
