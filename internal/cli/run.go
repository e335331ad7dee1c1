package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// runFlags are the flags of commands that evaluate.
type runFlags struct {
	keepGoing, failFast, dryRun bool
	only, not, force, retry     []string
	shard, cells, pairs         string
	otlp                        string
	policy                      policyFlag
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&f.keepGoing, "keep-going", "k", true, "continue after failures; --keep-going=false means --fail-fast")
	flags.BoolVarP(&f.failFast, "fail-fast", "x", false, "start nothing new after the first failure")
	cmd.MarkFlagsMutuallyExclusive("keep-going", "fail-fast")
	flags.StringArrayVar(&f.only, "only", nil, "keep only what a `SELECTOR` matches (repeatable)")
	flags.StringArrayVar(&f.not, "not", nil, "omit what a `SELECTOR` matches, and what needs it (repeatable)")
	flags.StringArrayVar(&f.force, "force", nil, "run nodes that a `SELECTOR` matches even if they are fresh (repeatable)")
	flags.StringSliceVar(&f.retry, "retry", nil, "run cells again whose last result has a `STATUS`: broken, timeout, error (with commas, or repeated)")
	f.policy.add(cmd, "pass policy for the exit code, instead of the problems' own")
	flags.StringVar(&f.shard, "shard", "", "evaluate the `I/N`th part of every suite, or of --cells; shared runs the tasks that several parts of --cells need")
	flags.StringVar(&f.cells, "cells", "", "keep only the cells that a `FILE` lists: one on each line, or printed by plan --shards --json")
	addPairs(cmd, &f.pairs, "keep only the solutions that a `FILE` of pairs names")
}

func (f *runFlags) addDryRun(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.dryRun, "dry-run", "n", false, "same as plan")
}

// request returns the request of flags and arguments.
func (f *runFlags) request(args []string) eval.Request {
	return eval.Request{
		Selection: eval.Selection{Targets: args, Only: f.only, Not: f.not, Pairs: f.pairs},
		Force:     f.force, Retry: f.retry, Shard: f.shard, Cells: f.cells, FailFast: f.failFast || !f.keepGoing, Policy: f.policy.policy,
	}
}

// pairsHelp is the part of help texts about --pairs.
const pairsHelp = `A file of pairs has a line SOLUTION:PROBLEM for each solution, by its name or by
the end of its source's path, as in flash/gpt5.py:flash. Empty lines, and lines
that begin with #, are ignored.`

// addPairs adds the flag --pairs to a command.
func addPairs(cmd *cobra.Command, into *string, usage string) {
	cmd.Flags().StringVar(into, "pairs", "", usage)
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := command("run [SELECTOR...]", "Evaluate; only stale nodes execute",
		`Run evaluates what the selectors match, or everything, and executes only stale
nodes. It shows, records and exports results.

A selector is a glob over node addresses or AXIS=GLOB with the axes problem,
checkpoint, solution, backend, suite, tag, kind, repeat, verdict (of the last
result), and label.NAME or model, which is label.model, of the solution's
labels. Commas mean and, several arguments mean or.

`+pairsHelp+`

With --retry, cells whose last result has one of the statuses run again, even if
an answer is stored, which the new one replaces. Other cells are evaluated as
usual.

`+policyHelp()+`

Exit codes: 0 all judged and passed, 1 something fails its policy, 2 usage or
configuration error, also in one of the selected problems, 3 something could not
be judged, 4 nothing selected that has a verdict, 130 interrupted.`,
		`  fevalgraph run
  fevalgraph run problem=kvstore,solution=agent
  fevalgraph run verdict=failed
  fevalgraph run --pairs nightly.txt model=gpt5
  fevalgraph run --cells shards.json --shard 2/4
  fevalgraph run --otlp http://127.0.0.1:4318
  fevalgraph run --retry broken,timeout
  fevalgraph run --force 'pytest:kvstore/*' -j 4`,
		func(cmd *cobra.Command, args []string) error {
			if f.dryRun {
				return a.runPlan(cmd.Context(), f.request(args), "", false)
			}
			return a.evaluate(cmd.Context(), a.options(), f.request(args), f.otlp)
		})
	cmd.Args = cobra.ArbitraryArgs
	f.add(cmd)
	f.addDryRun(cmd)
	cmd.Flags().StringVar(&f.otlp, "otlp", "", "send spans of the run, its cells and executed nodes to the OpenTelemetry endpoint `URL`")
	return cmd
}

// evaluate executes a request, and shows progress and outcome.
func (a *app) evaluate(ctx context.Context, o eval.Options, r eval.Request, endpoint string) error {
	_, err := a.run(ctx, o, r, endpoint, true)
	return err
}

// run does the same as evaluate and returns the outcome, which can be nil. The error contains the exit class.
func (a *app) run(ctx context.Context, o eval.Options, r eval.Request, endpoint string, table bool) (*eval.Outcome, error) {
	return a.present(r, endpoint, table, func(r eval.Request) (*eval.Outcome, error) { return eval.Run(ctx, o, r) })
}

// present shows the progress and outcome of run, with a table of its results if table is set.
func (a *app) present(r eval.Request, endpoint string, table bool, run func(eval.Request) (*eval.Outcome, error)) (*eval.Outcome, error) {
	progress, err := a.progress()
	if err != nil {
		return nil, err
	}
	r.Progress, r.EachNode = progress, a.flags.json || a.flags.verbose
	send, err := a.recordSpans(endpoint, &r)
	if err != nil {
		return nil, errors.Join(exit.With(exit.Usage, err), progress.Close())
	}
	out, err := run(r)
	showErr := progress.Close()
	if out == nil {
		return nil, err
	}
	send(out)
	if showErr != nil {
		if out.Exit == exit.Passed {
			out.Exit = exit.NotJudged
		}
		err = errors.Join(err, showErr)
	}
	a.showOutcome(r, out, table)
	if out.Exit == exit.Passed {
		return out, nil
	}
	return out, exit.With(out.Exit, err)
}

// showOutcome prints results and the final line. Quiet runs print only what could not be judged, which is
// otherwise part of the progress.
func (a *app) showOutcome(r eval.Request, out *eval.Outcome, table bool) {
	switch {
	case a.flags.json:
		return
	case a.flags.quiet:
		reasons := make([]view.Reason, len(out.Troubles))
		for i, e := range out.Troubles {
			reasons[i] = view.Reason{What: e.Addr + " " + string(e.State), Why: e.Message}
		}
		view.Reasons(a.io.Err, reasons, "node")
		return
	}
	if table {
		if err := a.showResults(r, out); err != nil {
			a.printRemark("warning: %v\n", err)
		}
	}
	switch {
	case out.Exit != exit.NoMatch:
	case out.Cells == 0:
		fmt.Fprintln(a.io.Err, "no verdict: the configuration has no solution on any backend; see `fevalgraph validate`")
	default:
		fmt.Fprintln(a.io.Err, "no verdict: the selection has no node that grades; PROBLEM, PROBLEM/SOLUTION or PROBLEM/CHECKPOINT/SOLUTION selects cells")
	}
	view.RunSummary(a.io.Err, out.End, a.slowest(out))
	if a.flags.verbose {
		view.Schedule(a.io.Err, view.ScheduleFacts{Took: out.End.Seconds, Chain: out.Bound.Chain, Slots: out.Bound.Slots, Work: out.Bound.Work,
			Idle: out.Bound.Idle(out.End.Seconds), Of: out.Bound.Size})
	}
	if out.Exit == exit.Failed || out.Exit == exit.NotJudged || out.Exit == exit.Usage || len(out.Troubles) > 0 {
		fmt.Fprintln(a.io.Err, "  `fevalgraph log` shows what the first failure printed, `log ADDR` a node,\n"+
			"  `fevalgraph explain ADDR` why it ran, `fevalgraph report` has all results")
	}
}

// showResults prints the results and the result blocks over them.
func (a *app) showResults(r eval.Request, out *eval.Outcome) error {
	o := a.tableOptions()
	tasks := &report.Results{Tasks: slices.Clone(out.Tasks)}
	for i := range tasks.Tasks {
		if t := &tasks.Tasks[i]; t.Cause == "" {
			t.Seconds = 0 // of the run that made it
		}
	}
	switch {
	case len(out.Rows) == 0 && len(out.Tasks) == 0:
		return nil
	case len(out.Rows) == 0:
		return report.WriteTaskTable(a.io.Out, tasks, o)
	}
	written := false
	if r.Policy == nil {
		var err error
		if written, err = report.WriteCellTable(a.io.Out, out.Rows, o); err != nil {
			return err
		}
	}
	if written && len(out.Tasks) > 0 {
		fmt.Fprintln(a.io.Out)
		if err := report.WriteTaskTable(a.io.Out, tasks, o); err != nil {
			return err
		}
	}
	if !written {
		shown, err := out.Results()
		if err != nil {
			return err
		}
		if r.Policy != nil {
			shown = shown.Under(*r.Policy)
		}
		if err := report.Write(a.io.Out, "table", shown, o); err != nil {
			return err
		}
		if out.End.Executed > 0 {
			if err := view.Failures(a.io.Out, shown, o); err != nil {
				return err
			}
		}
	}
	if out.BoardsErr != nil {
		a.printRemark("warning: %v\n", out.BoardsErr)
	}
	for _, b := range out.Boards {
		fmt.Fprintf(a.io.Out, "\n%s\n", text.Line(b.Name, 0))
		view.Table(a.io.Out, b.Header, b.Rows, a.page())
	}
	return nil
}

// slowest returns the longest nodes of a run; nil without -v.
func (a *app) slowest(out *eval.Outcome) []view.NodeTime {
	if !a.flags.verbose {
		return nil
	}
	var times []view.NodeTime
	for _, e := range out.Slowest {
		times = append(times, view.NodeTime{Addr: e.Addr, Seconds: e.Seconds})
	}
	return times
}
