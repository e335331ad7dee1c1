package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
)

// nodeOr returns the argument that names a node or, without one, the first failure of a run.
func (a *app) nodeOr(args []string, run string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	return eval.LastFailure(a.options(), run)
}

func (a *app) logCommand() *cobra.Command {
	var run string
	var setup bool
	cmd := command("log [ADDR]", "Show the output of a node, in any past run",
		`Log prints the output of a node's work: pytest's log, the output and exit code
of a compiler, a program or a checker, or the error of a broken attempt. The
name of a cell means its node with output. Without one, it is that of the first
failure of the run. For a node that was cached in the run, it prints the log of
the run that executed it.`,
		`  fevalgraph log
  fevalgraph log kvstore/basic/reference
  fevalgraph log 'check:knapsack/3/greedy@gojudge.box'
  fevalgraph log 'pytest:kvstore/basic/*' --run 20260102`,
		func(cmd *cobra.Command, args []string) error {
			addr, err := a.nodeOr(args, run)
			if err != nil {
				return err
			}
			if len(args) == 0 && !a.flags.quiet {
				a.printRemark("%s\n", addr)
			}
			content, err := eval.Log(cmd.Context(), a.options(), addr, run, setup)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(logObject{1, string(content)})
			}
			_, err = io.WriteString(a.io.Out, a.escape(string(content)))
			return err
		})
	cmd.Args = arguments(0, 1, "")
	cmd.Flags().StringVar(&run, "run", "latest", "the run: its `ID`, a part of it, latest, or latest~1")
	cmd.Flags().BoolVar(&setup, "setup", false, "show the output of the set-up commands instead")
	return cmd
}
