package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/pytest"
)

func (a *app) shellCommand() *cobra.Command {
	var run string
	cmd := command("shell ADDR", "Open a shell in the exact workspace of a node",
		`Shell brings the inputs of a pytest node up to date, makes its workspace, runs the
set-up commands, prints the command that would run the tests, and opens a shell
there. Nothing that happens in it is stored.`,
		`  fevalgraph shell 'pytest:kvstore/basic/reference@local.host'
  fevalgraph shell 'pytest:kvstore/basic/*' --command 'ls -l'`,
		func(cmd *cobra.Command, args []string) error {
			p, err := a.open(cmd.Context(), a.langOptions(), writing)
			if err != nil {
				return err
			}
			return p.finish(p.shell(cmd.Context(), args[0], run))
		})
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().StringVarP(&run, "command", "c", "", "run this shell command instead of an interactive shell")
	return cmd
}

func (p *project) shell(ctx context.Context, arg, run string) error {
	if !strings.Contains(arg, ":") && !strings.Contains(arg, "=") {
		arg = "pytest:" + arg
	}
	id, err := p.node(ctx, arg)
	if err != nil {
		return err
	}
	node := p.plan.Graph.Node(id)
	task, ok := node.Task.(*pytest.Run)
	if !ok {
		return exit(exitUsage, fmt.Errorf("%s has no workspace; name a pytest node", node.Addr))
	}
	var needs []graph.ID
	for _, d := range node.Deps {
		needs = append(needs, d.On)
	}
	rep, err := p.plan.Graph.Execute(ctx, needs, graph.Options{Store: p.store, Locker: p.store, Log: p.log, Run: p.run, Pools: p.plan.Pools})
	if err != nil {
		return exit(exitNotJudged, err)
	}
	for _, need := range rep.Nodes {
		if st := rep.Status(need); st.Message != "" && len(st.Outputs) == 0 {
			return exit(exitNotJudged, fmt.Errorf("%s: %s", p.plan.Graph.Node(need).Addr, st.Message))
		}
	}
	if err := task.Prepare(ctx); err != nil {
		return exit(exitNotJudged, err)
	}
	err = task.Enter(ctx, p.plan.Graph.Inputs(rep, id, p.store), p.app.io.Err, func(s backend.Session, env, command []string) error {
		fmt.Fprintf(p.app.io.Err, "workspace %s\ntests run with:\n  %s\n", s.Dir(), shellquote.Join(command...))
		c := backend.Command{Argv: []string{"/bin/sh", "-i"}, Env: env, Ports: task.Ports, Notes: p.app.io.Err, Attach: true}
		if run != "" {
			c.Argv, c.Attach, c.Output = []string{"/bin/sh", "-c", run}, false, p.app.io.Out
		}
		e, err := s.Exec(ctx, c)
		if err == nil && e.Code != 0 && run != "" {
			return exit(exitFailed, fmt.Errorf("the command ended with exit code %d", e.Code))
		}
		return err
	})
	var coded *exitError
	if err != nil && !errors.As(err, &coded) {
		return exit(exitNotJudged, err)
	}
	return err
}
