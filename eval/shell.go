package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

// ShellRequest says what to do in a workspace.
type ShellRequest struct {
	Command string    // of /bin/sh; "" is an interactive shell on the caller's terminal
	Out     io.Writer // receives what Command prints
	Notes   io.Writer // receives what set-up commands print
	// Ready is called when the workspace is made, with its directory and the command
	// that would run the tests; nil ignores that.
	Ready func(dir string, tests []string)
}

// Shell brings the inputs of a pytest node up to date, makes its workspace and runs
// a shell in it. Nothing that happens there is stored.
func Shell(ctx context.Context, o Options, arg string, r ShellRequest) (err error) {
	p, err := Open(ctx, o, Writing)
	if err != nil {
		return err
	}
	defer func() { err = p.closeAfter(err) }()
	if !strings.Contains(arg, ":") && !strings.Contains(arg, "=") {
		arg = "pytest:" + arg
	}
	id, err := p.Node(ctx, arg)
	if err != nil {
		return err
	}
	node := p.Plan.Graph.Node(id)
	task, ok := node.Task.(*pytest.Run)
	if !ok {
		return fail(Usage, fmt.Errorf("%s has no workspace; name a pytest node", node.Addr))
	}
	if !task.Backend.Capabilities().Attach && r.Command == "" {
		return fail(Usage, fmt.Errorf("%s runs on a backend that cannot be attached to a terminal", node.Addr))
	}
	var needs []graph.ID
	for _, d := range node.Deps {
		needs = append(needs, d.On)
	}
	rep, err := p.bringUpToDate(ctx, needs)
	if err != nil {
		return fail(NotJudged, err)
	}
	for _, need := range rep.Nodes {
		if st := rep.Status(need); st.Message != "" && len(st.Outputs) == 0 {
			return fail(NotJudged, fmt.Errorf("%s: %s", p.Plan.Graph.Node(need).Addr, st.Message))
		}
	}
	if err := task.Prepare(ctx); err != nil {
		return fail(NotJudged, err)
	}
	err = task.Enter(ctx, p.Plan.Graph.Inputs(rep, id, p.store), r.Notes, func(s backend.Session, env, tests []string) error {
		if r.Ready != nil {
			r.Ready(s.Dir(), tests)
		}
		return r.enter(ctx, s, backend.Command{Env: env, Ports: task.Ports, Notes: r.Notes})
	})
	var coded *Error
	if err != nil && !errors.As(err, &coded) {
		return fail(NotJudged, err)
	}
	return err
}

// enter runs the shell as a command with an environment.
func (r ShellRequest) enter(ctx context.Context, s backend.Session, c backend.Command) error {
	c.Argv, c.Attach = []string{"/bin/sh", "-i"}, true
	if r.Command != "" {
		c.Argv, c.Attach, c.Output = []string{"/bin/sh", "-c", r.Command}, false, r.Out
	}
	e, err := s.Exec(ctx, c)
	if err == nil && e.Code != 0 && r.Command != "" {
		return fail(Failed, fmt.Errorf("the command ended with exit code %d", e.Code))
	}
	return err
}
