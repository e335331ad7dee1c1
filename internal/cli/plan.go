package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) planCommand() *cobra.Command {
	var f runFlags
	var check bool
	var divide shardFlags
	cmd := command("plan [SELECTOR...]", "Show what a run would do, and why",
		`Plan decides like run, with the same code, and executes and writes nothing. With
--check it exits with 5 when something is stale, and with 3 when that is not
known, because the project is not trusted (see trust).

With --shards it divides the stale cells among machines, such as jobs of a CI
system; `+"`run --cells FILE --shard I/N`"+` evaluates one part. With auto there are
as many as it takes for each to be done after --target with -j jobs, as far as
earlier runs tell, and none when nothing is stale.`,
		`  fevalgraph plan
  fevalgraph plan problem=kvstore
  fevalgraph plan --check --quiet
  fevalgraph plan --shards auto --target 10m --json >shards.json`,
		func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("shards") {
				return a.runDivide(cmd.Context(), f.request(args), divide)
			}
			return a.runPlan(cmd.Context(), f.request(args), check)
		})
	cmd.Args = cobra.ArbitraryArgs
	f.add(cmd)
	f.addDryRun(cmd)
	cmd.Flags().BoolVar(&check, "check", false, "exit with 5 when something is stale")
	divide.add(cmd)
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
		return exit.With(exit.Usage, nil)
	case check && slices.ContainsFunc(d.Nodes, func(n eval.Decision) bool { return n.Runs }):
		return exit.With(exit.Stale, nil)
	case check && d.Unknown > 0: // it may be stale
		return exit.With(exit.NotJudged, nil)
	}
	return nil
}

// planTail is what follows the nodes in the object that plan --json prints.
type planTail struct {
	Stale   int     `json:"stale"`
	Fresh   int     `json:"fresh"`
	Unknown int     `json:"unknown,omitempty"`
	Seconds float64 `json:"expected_seconds"`
	// Diagnostics are the mistakes of invalid problems.
	Diagnostics diag.List `json:"diagnostics,omitempty"`
	// Resources are the problems by what machines they ask for.
	Resources []eval.ResourceGroup `json:"resources,omitempty"`
	// Launches are the clusters that a run would ask for.
	Launches []kind.Launch `json:"launches,omitempty"`
}

// writePlan prints the plan as one object, node by node: there may be so many that the
// text of all of them at once would need more memory than the plan itself.
func (a *app) writePlan(d *eval.Decisions) error {
	out := bufio.NewWriter(a.io.Out)
	var one bytes.Buffer
	encoder := json.NewEncoder(&one)
	encoder.SetEscapeHTML(false)
	indented := func(v any, prefix string) ([]byte, error) {
		one.Reset()
		if err := encoder.Encode(v); err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err := json.Indent(&text, bytes.TrimSpace(one.Bytes()), prefix, "  ")
		return text.Bytes(), err
	}
	out.WriteString("{\n  \"schema\": 1,\n  \"nodes\": [")
	for i, n := range d.Nodes {
		text, err := indented(n, "    ")
		if err != nil {
			return err
		}
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(out, "\n    %s", text)
	}
	if len(d.Nodes) > 0 {
		out.WriteString("\n  ")
	}
	tail, err := indented(planTail{Stale: d.Total - d.Fresh - d.Unknown, Fresh: d.Fresh, Unknown: d.Unknown, Seconds: d.Seconds, Diagnostics: d.Invalid, Resources: d.Resources, Launches: d.Launches}, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "],%s\n", bytes.TrimPrefix(tail, []byte("{")))
	return out.Flush()
}

func (a *app) showPlan(d *eval.Decisions) error {
	if a.flags.json {
		return a.writePlan(d)
	}
	if a.flags.quiet {
		return nil
	}
	var lines []view.PlanLine
	causes := map[string]int{}
	for _, n := range d.Nodes {
		if n.State != eval.Fresh && n.State != eval.Unknown {
			causes[n.Category]++
		}
		if n.State != eval.Fresh && n.State != eval.Unknown || a.flags.verbose {
			lines = append(lines, view.PlanLine{Mark: markOf(n.State), Addr: n.Addr, Cause: n.Cause})
		}
	}
	if cause := machineCause(d.Nodes); cause != "" && !a.flags.verbose && len(lines) > 1 {
		lines = []view.PlanLine{{Mark: "~", Addr: fmt.Sprintf("%d nodes", len(lines)), Cause: cause + " (-v lists them)"}}
	}
	if d.Unknown > 0 && !a.flags.verbose {
		lines = append(lines, view.PlanLine{Mark: "?", Addr: text.Count(d.Unknown, "node"), Cause: "unknown: a backend was not asked (-v lists them)"})
	}
	view.Plan(a.io.Out, lines, view.PlanCount{Fresh: d.Fresh, Unknown: d.Unknown, Total: d.Total}, countCauses(causes), d.Seconds/float64(max(d.Jobs, 1)), d.Jobs, a.color(), a.flags.verbose)
	for _, l := range d.Launches {
		price := "price not known"
		if l.Hourly != nil {
			price = fmt.Sprintf("$%.2f an hour each", *l.Hourly)
		}
		fmt.Fprintf(a.io.Out, "A run would launch about %s: %s, for %s, %s.\n", text.Count(l.Clusters, "cluster"), text.Line(l.Machines, 0), l.Backend, price)
	}
	return nil
}

// machineCause is the one thing that makes all stale nodes stale, when that is nothing
// which they have in files or in the configuration: an environment variable, a backend's
// interpreter, a version of a requirement.
func machineCause(nodes []eval.Decision) string {
	cause := ""
	for _, n := range nodes {
		switch n.Category {
		case "follows", eval.Unknown:
			continue
		case "env", "backend", "requirement":
		default:
			if n.State == eval.Fresh {
				continue
			}
			return ""
		}
		if cause != "" && cause != n.Cause {
			return ""
		}
		cause = n.Cause
	}
	return cause
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
	case eval.Unknown:
		return "?"
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
