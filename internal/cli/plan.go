package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) planCommand() *cobra.Command {
	var f runFlags
	var check bool
	cmd := command("plan [SELECTOR...]", "Show what a run would do, and why",
		`Plan decides like run, with the same code, and executes and writes nothing. With
--check it exits with 5 when something is stale.`,
		`  fevalgraph plan
  fevalgraph plan problem=kvstore
  fevalgraph plan --check --quiet`,
		func(cmd *cobra.Command, args []string) error {
			return a.runPlan(cmd.Context(), f.request(args), check)
		})
	cmd.Args = cobra.ArbitraryArgs
	f.add(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "exit with 5 when something is stale")
	return cmd
}

func (a *app) runPlan(ctx context.Context, r eval.Request, check bool) error {
	r.EachNode = a.flags.json || a.flags.verbose
	d, err := eval.Plan(ctx, a.options(), r)
	if err != nil {
		return err
	}
	if err := a.showPlan(d); err != nil {
		return err
	}
	switch {
	case d.InputErrors > 0:
		return exit(eval.Usage, nil)
	case check && slices.ContainsFunc(d.Nodes, func(n eval.Decision) bool { return n.Runs }):
		return exit(exitStale, nil)
	}
	return nil
}

// planJSON is what plan --json prints.
type planJSON struct {
	Schema  int             `json:"schema"`
	Nodes   []eval.Decision `json:"nodes"`
	Stale   int             `json:"stale"`
	Fresh   int             `json:"fresh"`
	Seconds float64         `json:"expected_seconds"`
	// Diagnostics are the mistakes of invalid problems.
	Diagnostics diag.List `json:"diagnostics,omitempty"`
	// Resources are the problems by what machines they ask for.
	Resources []eval.ResourceGroup `json:"resources,omitempty"`
}

func (a *app) showPlan(d *eval.Decisions) error {
	if a.flags.json {
		return a.writeJSON(planJSON{Schema: 1, Nodes: orEmpty(d.Nodes), Stale: d.Total - d.Fresh, Fresh: d.Fresh, Seconds: d.Seconds,
			Diagnostics: d.Invalid, Resources: d.Resources})
	}
	if a.flags.quiet {
		return nil
	}
	var lines []view.PlanLine
	causes := map[string]int{}
	for _, n := range d.Nodes {
		if n.State != eval.Fresh {
			causes[n.Category]++
		}
		if n.State != eval.Fresh || a.flags.verbose {
			lines = append(lines, planLine(n))
		}
	}
	view.Plan(a.io.Out, lines, d.Fresh, d.Total, countCauses(causes), d.Seconds/float64(max(d.Jobs, 1)), d.Jobs, a.color(), a.flags.verbose)
	return nil
}

func planLine(n eval.Decision) view.PlanLine {
	problem, on := n.Cell.Problem, n.Cell.Backend
	if problem == "" { // a suite's or a backend's, which the address names
		_, problem, _ = strings.Cut(n.Addr, ":")
		on = ""
	}
	return view.PlanLine{Mark: markOf(n.State), Kind: n.Kind, Problem: problem, Checkpoint: n.Cell.Checkpoint,
		File: n.File, Solution: n.Cell.Solution, Backend: on, Addr: n.Addr, Cause: n.Cause}
}

func markOf(state string) string {
	switch state {
	case eval.Fresh:
		return "="
	case "error":
		return "x"
	case "broken", "blocked", "skipped":
		return "!"
	case "new":
		return "+"
	}
	return "~"
}

func countCauses(causes map[string]int) []view.CauseCount {
	var counts []view.CauseCount
	for cause, n := range causes {
		counts = append(counts, view.CauseCount{Cause: cause, Count: n})
	}
	slices.SortFunc(counts, func(a, b view.CauseCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Cause, b.Cause))
	})
	return counts
}
