package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) planCommand() *cobra.Command {
	var f runFlags
	var check bool
	var since string
	var divide shardFlags
	cmd := command("plan [SELECTOR...]", "Show what a run would do, and why",
		`Plan makes the decisions of run, with the same code, without executing or
writing anything. With --check it exits with 5 if anything is stale, and with 3
if that is unknown because the project is not trusted (see trust).

With --since, it shows what the commits after a git commit affect: what would be
stale if that commit had been run. It needs no store. Uncommitted changes are an
error.

With --shards it divides the stale cells among machines, such as jobs of a CI
system; `+"`run --cells FILE --shard I/N`"+` evaluates one part. With auto it makes
as many shards as needed for each to end within --target with -j jobs, according
to earlier runs, and none if nothing is stale.`,
		`  fevalgraph plan
  fevalgraph plan problem=kvstore
  fevalgraph plan --check --quiet
  fevalgraph plan --since origin/main --json
  fevalgraph plan --shards auto --target 10m --json >shards.json`,
		func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("shards") {
				return a.runDivide(cmd.Context(), f.request(args), divide)
			}
			return a.runPlan(cmd.Context(), f.request(args), since, check)
		})
	cmd.Args = cobra.ArbitraryArgs
	f.add(cmd)
	f.addDryRun(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "exit with 5 if anything is stale")
	cmd.Flags().StringVar(&since, "since", "", "show what the commits after git's `REF` affect, without a store")
	divide.add(cmd)
	return cmd
}

// runPlan shows a plan. since is the commit whose results count as present, or "".
func (a *app) runPlan(ctx context.Context, r eval.Request, since string, check bool) error {
	r.EachNode = a.flags.json || a.flags.verbose
	var d *eval.Decisions
	var err error
	if since != "" {
		d, err = eval.Since(ctx, a.options(), r, since)
	} else {
		d, err = eval.Plan(ctx, a.options(), r)
	}
	if err != nil {
		return err
	}
	if err := a.showPlan(d); err != nil {
		return err
	}
	switch {
	case d.InputErrors > 0:
		return exit.With(exit.Usage, nil)
	case check && d.Stale:
		return exit.With(exit.Stale, nil)
	case check && d.Unknown > 0: // may be stale
		return exit.With(exit.NotJudged, nil)
	}
	return nil
}

// planTail holds the fields after the nodes in the output of plan --json.
type planTail struct {
	Stale   int     `json:"stale"`
	Fresh   int     `json:"fresh"`
	Unknown int     `json:"unknown,omitempty"`
	Seconds float64 `json:"expected_seconds"`
	// Diagnostics lists the errors of invalid problems.
	Diagnostics diag.List `json:"diagnostics,omitempty"`
	// Resources groups problems by requested machines.
	Resources []eval.ResourceGroup `json:"resources,omitempty"`
	// Launches lists the clusters that a run would request.
	Launches []kind.Launch `json:"launches,omitempty"`
}

func (a *app) showPlan(d *eval.Decisions) error {
	if a.flags.json {
		return view.WriteJSONList(a.io.Out, "nodes", d.Nodes, planTail{Stale: d.Total - d.Fresh - d.Unknown, Fresh: d.Fresh, Unknown: d.Unknown, Seconds: d.Seconds,
			Diagnostics: d.Invalid, Resources: d.Resources, Launches: d.Launches})
	}
	if a.flags.quiet {
		return nil
	}
	nodes := func(yield func(view.PlanNode) bool) {
		for n := range d.Nodes {
			if !yield(describe.PlanNode(&n)) {
				return
			}
		}
	}
	view.Plan(a.io.Out, view.PlanLines(nodes, d.Unknown, a.flags.verbose), view.PlanCount{Fresh: d.Fresh, Unknown: d.Unknown, Total: d.Total},
		d.Seconds/float64(max(d.Jobs, 1)), d.Jobs, a.lines())
	for _, l := range d.Launches {
		view.Launch(l).Write(a.io.Out)
	}
	return nil
}
