package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/user"
)

func (a *app) keygenCommand() *cobra.Command {
	var file, name string
	cmd := command("keygen", "Make a key that signs bundles, and results for remote caches",
		`Keygen makes an Ed25519 key. The private part goes into a new file that only you
can read, for FEVALGRAPH_SIGNING_KEY; bundles, and results that are sent to
remote caches, are signed with it. The public part is printed: publish it beside
your bundles, and name it in trust of the remote blocks of those who are to use
your results.`,
		`  fevalgraph keygen -o ~/.config/fevalgraph.key --name ci
  FEVALGRAPH_SIGNING_KEY=~/.config/fevalgraph.key fevalgraph run`,
		func(cmd *cobra.Command, args []string) error {
			public, err := user.GenerateSigningKey(file, name)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(keyObject{1, file, public})
			}
			fmt.Fprintln(a.io.Out, public)
			return nil
		})
	cmd.Flags().StringVarP(&file, "output", "o", "fevalgraph.key", "new `FILE` for the private key")
	cmd.Flags().StringVar(&name, "name", "", "how explain calls who has the key: `NAME`")
	return cmd
}
