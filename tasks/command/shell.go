package command

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Enter opens the workspace of the run with its exact inputs, runs installation and
// set-up, and calls use with it, with the problem's program, and with a function to run
// other programs in the same way. Afterwards it closes the workspace.
func (r *Run) Enter(ctx context.Context, w *graph.Work, progress io.Writer, use func(s backend.Session, tests []string, command func(argv []string) backend.Command) error) error {
	uv, plan, err := r.plan(ctx, w)
	if err != nil {
		return err
	}
	w.Log = progress
	return session.Enter(ctx, w, plan, func(s *session.Session) error {
		// A set-up command that failed has printed why, for the user to examine.
		if _, err := r.setUp(ctx, w, s, uv); err != nil {
			return err
		}
		env, err := r.environment(ctx, s)
		if err != nil {
			return err
		}
		return use(s, r.Argv, func(argv []string) backend.Command {
			return backend.Command{Argv: s.In(argv), Env: env, Dir: r.Directory, Offline: r.Offline, Notes: progress}
		})
	})
}
