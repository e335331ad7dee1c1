package cli

import (
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) getCommand() *cobra.Command {
	r := eval.GetRequest{}
	cmd := command("get ADDR", "Write the outputs of a node into a directory",
		`Get writes the stored outputs of a node: outputs of a task, a submission as it
was judged, reports and logs. Outputs of a task have their declared paths. The
files of a tree that is the only output are in the directory itself, and other
outputs have their names. The node must be fresh; with --run, the outputs are
those of a recorded run.`,
		`  fevalgraph get task.plot
  fevalgraph get 'submission:kvstore/basic/agent' -o judged
  fevalgraph get build/plot.svg --run latest~1 -o before`,
		func(cmd *cobra.Command, args []string) error {
			r.Node = args[0]
			got, err := eval.Get(cmd.Context(), a.options(), r)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(describe.GotObjectOf(got))
			}
			if !a.flags.quiet {
				view.Table(a.io.Out, []string{"output", "path", "size"}, describe.Got(got), a.page())
			}
			return nil
		})
	cmd.Args = arguments(1, 1, "whose outputs to write")
	cmd.Flags().StringVarP(&r.Dir, "output", "o", ".", "write into `DIR`")
	cmd.Flags().StringVar(&r.Run, "run", "", "the outputs of a `RUN`: its id, latest or latest~N")
	cmd.Flags().BoolVar(&r.Force, "force", false, "replace files that differ")
	return cmd
}
