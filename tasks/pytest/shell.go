package pytest

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/session"
)

// Enter opens the workspace of the run with its exact inputs, runs the set-up
// commands, and calls use with it, with the command that would run the tests,
// and with a function to run other programs in the same way. Afterwards it
// closes the workspace.
func (r *Run) Enter(ctx context.Context, w *graph.Work, progress io.Writer, use func(s backend.Session, tests []string, command func(argv []string) backend.Command) error) (err error) {
	if r, err = r.locked(ctx); err != nil {
		return err
	}
	plan, in, err := r.plan(ctx, w)
	if err != nil {
		return err
	}
	w.Log = progress
	return session.Enter(ctx, w, plan, func(s *session.Session) error {
		if err := r.ready(ctx, w, s); err != nil {
			return err
		}
		env, err := r.environment(ctx, s)
		if err != nil {
			return err
		}
		tests, env := r.testCommand(in, s.Dir(), env)
		if in.venv != "" && !r.Backend.Capabilities().OwnFiles { // which also makes the environment visible to the shell
			env = inFront(env, in.venv+"/bin")
		}
		return use(s, tests, func(argv []string) backend.Command {
			return backend.Command{Argv: argv, Env: env, Ports: r.Ports, Notes: progress}
		})
	})
}

// inFront returns env with a directory prepended to PATH.
func inFront(env []string, dir string) []string {
	env = slices.Clone(env)
	for i, pair := range env {
		if rest, ok := strings.CutPrefix(pair, "PATH="); ok {
			env[i] = "PATH=" + dir + ":" + rest
		}
	}
	return env
}
