package cli

import (
	"context"

	"github.com/spf13/cobra"
)

// runFlags are the flags of commands that evaluate.
type runFlags struct {
	keepGoing, failFast, dryRun bool
	only, not, force, retry     []string
	shard, pairs                string
	profile                     string
	policy                      policyFlag
}

func (f *runFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&f.keepGoing, "keep-going", "k", true, "go on after failures")
	flags.BoolVarP(&f.failFast, "fail-fast", "x", false, "start nothing new after the first failure")
	flags.BoolVarP(&f.dryRun, "dry-run", "n", false, "the same as plan")
	flags.StringArrayVar(&f.only, "only", nil, "keep only what a `SELECTOR` picks (repeatable)")
	flags.StringArrayVar(&f.not, "not", nil, "leave out what a `SELECTOR` picks, and what needs it (repeatable)")
	flags.StringArrayVar(&f.force, "force", nil, "run nodes that a `SELECTOR` picks even when they are fresh (repeatable)")
	flags.StringSliceVar(&f.retry, "retry", nil, "run again what has a `STATUS` in its last result: broken, timeout, error (with commas, or repeated)")
	f.policy.add(cmd, "pass policy for the exit code, in place of the problems' own")
	flags.StringVar(&f.shard, "shard", "", "evaluate the `I/N`th part of every suite")
	addPairs(cmd, &f.pairs, "keep only the solutions that a `FILE` of pairs names")
}

func (f *runFlags) selection(args []string) selection {
	return selection{args: args, only: f.only, not: f.not, pairs: f.pairs}
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := command("run [SELECTOR...]", "Evaluate; only stale nodes execute",
		`Run evaluates what the selectors pick, or everything, and executes only stale
nodes. Results are shown, recorded, and exported.

A selector is a glob over node addresses or AXIS=GLOB with the axes problem,
checkpoint, solution, backend, suite, tag, kind, repeat, verdict (of the last
result), and label.NAME or model, which is label.model, of the solution's labels.
Commas mean and, several arguments mean or.

`+pairsHelp+`

With --retry, cells whose last result has one of the statuses are asked again
although an answer is stored, which the new one replaces. Other cells are
evaluated as ever.

`+policyHelp()+`

Exit codes: 0 all judged and passed, 1 something fails its policy, 2 usage or
configuration error, also of one problem among those asked for, 3 something could
not be judged, 4 a selector matched nothing, 130 interrupted.`,
		`  fevalgraph run
  fevalgraph run problem=kvstore,solution=agent
  fevalgraph run verdict=failed
  fevalgraph run --pairs nightly.txt model=gpt5
  fevalgraph run --retry broken,timeout
  fevalgraph run --force 'pytest:kvstore/*' -j 4`,
		func(cmd *cobra.Command, args []string) error {
			if f.dryRun {
				return a.runPlan(cmd.Context(), f.selection(args), f, false)
			}
			p, err := a.open(cmd.Context(), a.langOptions(), writing)
			if err != nil {
				return err
			}
			return p.finish(p.runSelected(cmd, args, f))
		})
	cmd.Args = cobra.ArbitraryArgs
	f.add(cmd)
	cmd.Flags().StringVar(&f.profile, "profile", "", "write when each node waited and worked to a `FILE` in Chrome's trace format")
	return cmd
}

func (p *project) runSelected(cmd *cobra.Command, args []string, f runFlags) error {
	e, err := p.evaluation(cmd.Context(), f.selection(args), f)
	if err != nil {
		return err
	}
	return p.evaluate(cmd.Context(), e)
}

// evaluation turns flags into what evaluate needs.
func (p *project) evaluation(ctx context.Context, s selection, f runFlags) (evaluation, error) {
	e := evaluation{fast: f.failFast, policy: f.policy.policy, profile: f.profile}
	var err error
	if e.targets, err = p.targets(ctx, s); err != nil {
		return e, err
	}
	if e.force, err = p.matcher(ctx, f.force); err != nil {
		return e, err
	}
	again, err := p.retried(ctx, f.retry)
	if err != nil {
		return e, err
	}
	e.force = either(e.force, again)
	if f.shard != "" {
		return e, p.shard(&e, f.shard)
	}
	return e, nil
}

// finish closes the project and keeps the more telling error.
func (p *project) finish(err error) error {
	if closeErr := p.close(); closeErr != nil && err == nil {
		return exit(exitNotJudged, closeErr)
	}
	return err
}
