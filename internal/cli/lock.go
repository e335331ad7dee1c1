package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

func (a *app) lockCommand() *cobra.Command {
	var upgrade bool
	cmd := command("lock", "Pin the requirements of every problem",
		`Lock resolves requirements that `+requirements.FileName+` does not hold yet and drops those that
nothing asks for. Keep the file with the configuration: it is part of every key.
With --upgrade everything is resolved anew. While a problem is invalid nothing is
dropped: what it asks for is not known.`,
		`  fevalgraph lock
  fevalgraph lock --upgrade`,
		func(cmd *cobra.Command, args []string) error { return a.runLock(cmd.Context(), upgrade) })
	cmd.Flags().BoolVar(&upgrade, "upgrade", false, "resolve everything anew, to the newest versions")
	return cmd
}

func (a *app) runLock(ctx context.Context, upgrade bool) error {
	mode := writing
	if upgrade {
		mode = renewing
	}
	p, err := a.open(ctx, a.langOptions(), mode)
	if err != nil {
		return err
	}
	return p.finish(p.lockAll(ctx))
}

func (p *project) lockAll(ctx context.Context) error {
	if err := p.buildImages(ctx); err != nil {
		return err
	}
	if err := p.plan.LockAll(ctx); err != nil {
		code := exitNotJudged
		if graph.IsInput(err) {
			code = exitUsage
		}
		return exit(code, err)
	}
	invalid := invalidProblems(p.cfg)
	dropped := 0
	if len(invalid) == 0 { // else nobody knows what is not asked for
		var err error
		if dropped, err = p.locker.prune(ctx); err != nil {
			return exit(exitNotJudged, err)
		}
	}
	if !p.app.flags.quiet {
		fmt.Fprintf(p.app.io.Out, "%s: %d sets in use, %d resolved, %d dropped\n", requirements.FileName, len(p.locker.used), len(p.locker.done), dropped)
	}
	if len(invalid) > 0 {
		return exit(exitUsage, invalid)
	}
	return nil
}

// buildImages makes the images in which requirements are resolved.
func (p *project) buildImages(ctx context.Context) error {
	images := p.plan.Images()
	if len(images) == 0 {
		return nil
	}
	rep, err := p.plan.Graph.Execute(ctx, images, graph.Options{Store: p.store, Locker: p.store, Log: p.log, Run: p.run, Pools: p.plan.Pools})
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return exit(exitNotJudged, err)
	}
	for _, id := range rep.Nodes {
		switch st := rep.Status(id); {
		case st.Input:
			return exit(exitUsage, fmt.Errorf("%s: %s", p.plan.Graph.Node(id).Addr, st.Message))
		case st.State == event.Broken:
			return exit(exitNotJudged, fmt.Errorf("%s: %s", p.plan.Graph.Node(id).Addr, st.Message))
		}
	}
	return nil
}
