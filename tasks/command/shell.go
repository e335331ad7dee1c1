package command

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Enter opens the workspace of the run with its exact inputs, installs and sets up what
// it needs, and hands it to use, with the problem's program and how programs run as that
// one does. The workspace is closed afterwards.
func (r *Run) Enter(ctx context.Context, w *graph.Work, progress io.Writer, use func(s backend.Session, tests []string, command func(argv []string) backend.Command) error) error {
	var uv *prepared
	if r.UV != nil {
		p, err := r.UV.prepare(ctx, w, r.Backend, r.Env)
		if err != nil {
			return err
		}
		uv = &p
	}
	session, err := r.open(ctx, w, uv, nil)
	if session != nil {
		defer session.Close(context.WithoutCancel(ctx))
	}
	if err != nil {
		return err
	}
	// A set-up command that says no has told why: that is what to look into.
	if _, err := r.setUp(ctx, w, session, r.spec(w, uv), uv, progress, true); err != nil {
		return err
	}
	env, err := r.environment(ctx, session)
	if err != nil {
		return err
	}
	return use(session, r.Argv, func(argv []string) backend.Command {
		return backend.Command{Argv: r.argv(session, uv, argv), Env: env, Dir: r.Directory, Offline: r.Offline, Notes: progress}
	})
}
