package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
)

func (a *app) logCommand() *cobra.Command {
	var run string
	var setup bool
	cmd := command("log ADDR", "Show the output of one node, of any past run",
		`Log prints what a node's work printed: pytest's own log, what a compiler, a
program or a checker printed and how it ended, or what a broken attempt said.
The name of a cell means its node that printed something. A node that was cached
in the run shows the log of the run that made it.`,
		`  fevalgraph log kvstore/basic/reference
  fevalgraph log 'check:knapsack/3/greedy@gojudge.box'
  fevalgraph log 'pytest:kvstore/basic/*' --run 20260102`,
		func(cmd *cobra.Command, args []string) error {
			content, err := eval.Log(cmd.Context(), a.options(), args[0], run, setup)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(logObject{1, string(content)})
			}
			_, err = io.WriteString(a.io.Out, a.shown(string(content)))
			return err
		})
	cmd.Args = arguments(1, 1, "the node")
	cmd.Flags().StringVar(&run, "run", "latest", "the run: its `ID`, a part of it, latest, or latest~1 for the one before")
	cmd.Flags().BoolVar(&setup, "setup", false, "show the set-up commands' output instead")
	return cmd
}
