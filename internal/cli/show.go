package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) showCommand() *cobra.Command {
	cmd := command("show ADDR", "Show one problem, solution, task, or node",
		`Show describes a problem (problem.kvstore or kvstore), a solution
(solution.agent), a task (task.data), or a node (its address).`,
		`  fevalgraph show kvstore
  fevalgraph show 'pytest:kvstore/basic/reference@local.host'`,
		func(cmd *cobra.Command, args []string) error { return a.runShow(cmd.Context(), args[0]) })
	cmd.Args = arguments(1, 1, "what to show")
	return cmd
}

func (a *app) runShow(ctx context.Context, arg string) error {
	p, err := eval.Open(ctx, a.options(), eval.Reading)
	if err != nil {
		return err
	}
	defer p.Close()
	if facts, ok := describe.Named(ctx, p, arg); ok {
		return a.showFacts(facts)
	}
	id, err := p.Node(ctx, arg)
	if err != nil {
		return err
	}
	return a.showFacts(describe.Node(ctx, p, id))
}

func (a *app) showFacts(facts [][]string) error {
	if !a.flags.json {
		view.Table(a.io.Out, []string{"field", "value"}, facts, a.page())
		return nil
	}
	var rows []view.Field
	for _, f := range facts {
		rows = append(rows, view.Field{Label: f[0], Value: f[1]})
	}
	return a.writeJSON(factsObject{1, rows})
}
