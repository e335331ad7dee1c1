package backend

import (
	"context"
	"errors"
)

// PrepareShared is Prepare for backends whose sessions share files: it runs
// cmd in a session of its own.
func PrepareShared(ctx context.Context, b Backend, cmd Command) (exit Exit, err error) {
	s, err := b.Open(ctx, Spec{Name: "prepare"})
	if err != nil {
		return Exit{}, err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	cmd.Online = true
	return s.Exec(ctx, cmd)
}
