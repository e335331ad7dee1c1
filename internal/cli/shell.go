package cli

import (
	"fmt"

	"github.com/kballard/go-shellquote"
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
)

func (a *app) shellCommand() *cobra.Command {
	var run string
	cmd := command("shell ADDR", "Open a shell in the exact workspace of a node",
		`Shell brings the inputs of a pytest node up to date, makes its workspace, runs the
set-up commands, prints the command that would run the tests, and opens a shell
there. Nothing that happens in it is stored.`,
		`  fevalgraph shell 'pytest:kvstore/basic/reference@local.host'
  fevalgraph shell 'pytest:kvstore/basic/*' --command 'ls -l'`,
		func(cmd *cobra.Command, args []string) error {
			return eval.Shell(cmd.Context(), a.options(), args[0], eval.ShellRequest{Command: run, Out: a.io.Out, Notes: a.io.Err, Ready: func(dir string, tests []string) {
				fmt.Fprintf(a.io.Err, "workspace %s\ntests run with:\n  %s\n", dir, shellquote.Join(tests...))
			}})
		})
	cmd.Args = arguments(1, 1, "the cell")
	cmd.Flags().StringVarP(&run, "command", "c", "", "run this shell command instead of an interactive shell")
	return cmd
}
