package cli

import (
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/backend/remote/remotehost"
	"github.com/fevalgraph/fevalgraph/backend/remote/wire"
	"github.com/fevalgraph/fevalgraph/eval/exit"
)

// actionCommand returns the command that an engine for remote execution starts on its workers.
func (a *app) actionCommand() *cobra.Command {
	cmd := command(wire.Command, "Run the task of a remote execution action",
		`Action runs the task in the current directory, the input root of an action, and
writes its result there. Engines start it for backends of the kind "remote";
users do not.`,
		"  fevalgraph action",
		func(cmd *cobra.Command, args []string) error {
			if err := remotehost.Run(cmd.Context(), "."); err != nil {
				return exit.With(exit.NotJudged, err)
			}
			return nil
		})
	cmd.Hidden = true
	return cmd
}
