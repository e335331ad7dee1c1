package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval/user"
)

func (a *app) keygenCommand() *cobra.Command {
	var file, name string
	cmd := command("keygen", "Create a key that signs bundles, and results for remote caches",
		`Keygen creates an Ed25519 key. The private key is written to a new file that
only you can read, for FEVALGRAPH_SIGNING_KEY; it signs bundles, and results
that are sent to remote caches. The public key is printed: publish it next to
your bundles, and add it to trust in the remote blocks of users of your results.`,
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
	cmd.Flags().StringVar(&name, "name", "", "`NAME` of the key's owner, which explain shows")
	return cmd
}
