package command

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Enter opens the workspace of the run with its exact inputs, installs and sets up what
// it needs, and hands it to use, with the problem's program and how programs run as that
// one does. The workspace is closed afterwards.
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
