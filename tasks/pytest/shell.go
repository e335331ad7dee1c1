package pytest

import (
	"context"
	"io"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
)

// Enter opens the workspace of the run with its exact inputs, runs the set-up
// commands, and hands it to use, with the command that would run the tests and how
// programs run as that one does. The workspace is closed afterwards.
func (r *Run) Enter(ctx context.Context, w *graph.Work, progress io.Writer, use func(s backend.Session, tests []string, command func(argv []string) backend.Command) error) (err error) {
	if r.pins, err = r.Pins(ctx); err != nil { // no decision about the node has asked yet
		return err
	}
	session, python, err := r.open(ctx, w, progress, true, nil)
	if session != nil {
		defer session.Close(context.WithoutCancel(ctx))
	}
	if err != nil {
		return err
	}
	return use(session, r.testCommand(python), func(argv []string) backend.Command {
		return backend.Command{Argv: argv, Env: r.environ(session.Dir(), r.Env.Variables()), Ports: r.Ports, Notes: progress}
	})
}
