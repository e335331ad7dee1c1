package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
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
			return a.runPlan(cmd.Context(), f.selection(args), f, check)
		})
	cmd.Args = cobra.ArbitraryArgs
	f.add(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "exit with 5 when something is stale")
	return cmd
}

// dryRun decides about the targets without executing or writing anything.
func (p *project) dryRun(ctx context.Context, e evaluation) (*graph.Report, error) {
	rep, err := p.plan.Graph.Execute(ctx, e.targets, graph.Options{Store: p.store, Log: p.log, Run: p.run, Pools: p.plan.Pools, DryRun: true, Force: e.force})
	if err != nil {
		return nil, exit(exitNotJudged, err)
	}
	return rep, context.Cause(ctx)
}

func (a *app) runPlan(ctx context.Context, s selection, f runFlags, check bool) error {
	p, err := a.open(ctx, a.langOptions(), reading)
	if err != nil {
		return err
	}
	defer p.close()
	e, err := p.evaluation(ctx, s, f)
	if err != nil {
		return err
	}
	p.showInvalid(e.targets)
	rep, err := p.dryRun(ctx, e)
	if err != nil {
		return err
	}
	if err := p.showPlan(rep, p.askedInvalid(e.targets)); err != nil {
		return err
	}
	return planned(rep, check)
}

// planned is how plan ends.
func planned(rep *graph.Report, check bool) error {
	stale, input := 0, 0
	for _, id := range rep.Nodes {
		if st := rep.Status(id); st.Stale || st.State == event.Broken {
			stale++
		}
	}
	input = rep.InputErrors
	switch {
	case input > 0:
		return exit(exitUsage, nil)
	case check && stale > 0:
		return exit(exitStale, nil)
	}
	return nil
}

// planJSON is what plan --json prints.
type planJSON struct {
	Schema  int        `json:"schema"`
	Nodes   []planNode `json:"nodes"`
	Stale   int        `json:"stale"`
	Fresh   int        `json:"fresh"`
	Seconds float64    `json:"expected_seconds"`
	// Diagnostics are the mistakes of invalid problems.
	Diagnostics diag.List `json:"diagnostics,omitempty"`
	// Resources are the problems by what machines they ask for.
	Resources []resourceGroup `json:"resources,omitempty"`
}

type planNode struct {
	Addr    string         `json:"addr"`
	Kind    string         `json:"kind"`
	State   string         `json:"state"` // fresh, stale, new, broken, error, blocked, skipped
	Cause   string         `json:"cause"`
	Key     string         `json:"key,omitempty"`
	Changes []event.Change `json:"changes,omitempty"`
}

// showPlan shows what was decided.
func (p *project) showPlan(rep *graph.Report, invalid diag.List) error {
	out := planJSON{Schema: 1, Nodes: []planNode{}, Diagnostics: invalid}
	var lines []view.PlanLine
	causes := map[string]int{}
	for _, id := range rep.Nodes {
		n, st := p.plan.Graph.Node(id), rep.Status(id)
		state, mark := planState(st)
		out.Nodes = append(out.Nodes, planNode{Addr: n.Addr, Kind: n.Kind, State: state, Cause: planCause(st), Key: keyOf(st), Changes: st.Changes})
		if state == "fresh" {
			out.Fresh++
		} else {
			out.Stale++
			out.Seconds += st.Expected
			causes[causeWord(st)]++
		}
		if state != "fresh" || p.app.flags.verbose {
			problem, on := n.Label("problem"), n.Label("backend")
			if problem == "" { // a suite's or a backend's, which the address names
				_, problem, _ = strings.Cut(n.Addr, ":")
				on = ""
			}
			lines = append(lines, view.PlanLine{Mark: mark, Kind: n.Kind, Problem: problem, Checkpoint: n.Label("checkpoint"),
				File: cmp.Or(n.Label("file"), n.Label("case")), Solution: n.Label("solution"), Backend: on, Addr: n.Addr, Cause: planCause(st)})
		}
	}
	if p.app.flags.json {
		out.Resources = p.resourceGroups(rep)
		return p.app.writeJSON(out)
	}
	if p.app.flags.quiet {
		return nil
	}
	jobs := p.plan.Pools[graph.CPUPool]
	view.Plan(p.app.io.Out, lines, out.Fresh, len(rep.Nodes), countCauses(causes), out.Seconds/float64(max(jobs, 1)), jobs, p.app.color(), p.app.flags.verbose)
	return nil
}

func planState(st *graph.Status) (state, mark string) {
	switch {
	case st.State == event.Cached:
		return "fresh", "="
	case st.Input:
		return "error", "x"
	case st.State == event.Broken:
		return "broken", "!"
	case st.State == event.Blocked:
		return "blocked", "!"
	case st.State == event.Skipped:
		return "skipped", "!"
	case st.WasBroke != "":
		return "broken", "!"
	case st.New:
		return "new", "+"
	}
	return "stale", "~"
}

func planCause(st *graph.Status) string {
	if st.Message != "" && st.State != event.Cached {
		return st.Message
	}
	if st.WasBroke != "" && st.Stale {
		return st.Cause + ", will retry"
	}
	return st.Cause
}

func causeWord(st *graph.Status) string {
	switch {
	case st.Input:
		return "error"
	case st.State == event.Broken || st.WasBroke != "":
		return "broken"
	case st.State == event.Blocked:
		return "blocked"
	case st.State == event.Skipped:
		return "skipped"
	case st.New && st.Category != "follows":
		return "new"
	}
	return cmp.Or(st.Category, "changed")
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

func keyOf(st *graph.Status) string {
	if st.Key.IsZero() {
		return ""
	}
	return st.Key.String()
}
