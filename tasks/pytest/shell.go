package pytest

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Prepare finds out what Describe would, for callers that enter a workspace
// without a decision about the node.
func (r *Run) Prepare(ctx context.Context) (err error) {
	r.pins, err = r.Pins(ctx)
	return err
}

// Enter opens the workspace of the run with its exact inputs, runs the set-up
// commands, and hands the session to use, with its environment and the command
// that would run the tests. The session is closed afterwards.
func (r *Run) Enter(ctx context.Context, w *graph.Work, progress io.Writer, use func(s backend.Session, env, command []string) error) error {
	session, python, err := r.open(ctx, w, progress)
	if session != nil {
		defer session.Close(context.WithoutCancel(ctx))
	}
	if err != nil {
		return err
	}
	return use(session, r.environ(session.Dir()), r.testCommand(python))
}
