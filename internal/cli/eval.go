package cli

import (
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/lang"
)

func (a *app) evalCommand() *cobra.Command {
	f := runFlags{keepGoing: true}
	var checkpoint, on string
	cmd := command("eval PROBLEM PATH", "Evaluate one solution, once",
		`Eval evaluates the solution at PATH for a problem of the configuration, without
a solution block, with the same graph and the same cache, so that nothing is
judged twice. If PATH has sub-directories named like checkpoints, each answers
its checkpoint; otherwise PATH answers --checkpoint, or the last checkpoint.

`+policyHelp(),
		`  fevalgraph eval kvstore ./my-solution
  fevalgraph eval kvstore ./my-solution --checkpoint checkpoint_1
  fevalgraph eval kvstore ./my-solution --backend local.host --json`,
		func(cmd *cobra.Command, args []string) error {
			o := a.options()
			o.AdHoc = &lang.AdHoc{Problem: args[0], Path: args[1], Checkpoint: checkpoint, Backend: on}
			return a.evaluate(cmd.Context(), o, f.request([]string{"suite=eval"}), "")
		})
	cmd.Args = arguments(2, 2, "a problem and the path of a submission")
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "the checkpoint that PATH answers")
	cmd.Flags().StringVar(&on, "backend", "", "backend to run on, such as local.host")
	f.policy.add(cmd, "pass policy for the exit code, instead of the problem's own")
	cmd.Flags().BoolVarP(&f.failFast, "fail-fast", "x", false, "start nothing new after the first failure")
	return cmd
}
