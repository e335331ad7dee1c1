package cli

import (
	"fmt"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/shell"
)

func (a *app) shellCommand() *cobra.Command {
	var run string
	cmd := command("shell CELL", "Open a shell in the exact workspace of a cell or a task",
		`Shell brings the inputs of a cell's run or of a task up to date, makes its
workspace, runs the set-up commands, and opens your shell there. The script
run-tests in the workspace runs the tests, the problem's program, a judge
problem's program and checker, or the task's command; arguments are added to
those of pytest or the program. It stores nothing, and removes the workspace at
the end.

A case of a judge problem gets a directory on this machine, outside of the
sandbox, with the program, its input and the answer.`,
		`  fevalgraph shell kvstore/basic/reference
  fevalgraph shell kvstore/basic/reference --command './run-tests -k expiry -x'
  fevalgraph shell task.plot
  fevalgraph shell check:knapsack/3/greedy@gojudge.box`,
		func(cmd *cobra.Command, args []string) error {
			return eval.Shell(cmd.Context(), a.options(), args[0], shell.Request{Command: run, Out: a.io.Out, Notes: a.io.Err, Ready: func(w shell.Workspace) {
				a.printRemark("workspace %s\n", w.Dir)
				if w.Outside {
					fmt.Fprintf(a.io.Err, "./%s runs the solution and judges it, here and in no sandbox\n", shell.RunTests)
					return
				}
				a.printRemark("./%s runs what the cell runs; it passes arguments on\n", shell.RunTests)
				if a.flags.verbose {
					a.printRemark("  %s\n", shellquote.Join(w.Tests...))
				}
			}})
		})
	cmd.Args = arguments(1, 1, "the cell or task")
	cmd.Flags().StringVarP(&run, "command", "c", "", "run this shell command instead of an interactive shell")
	return cmd
}
