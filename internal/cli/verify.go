package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
)

func (a *app) verifyCommand() *cobra.Command {
	var r eval.VerifyRequest
	cmd := command("verify FILE --key KEY", "Check a bundle",
		`Verify checks that a bundle is signed by a key that you name, and that it is
consistent: each manifest and result matches its digest, each verdict matches
its result, and each result was made from the inputs in its manifests. It needs
neither the project nor its store.

With --rerun N, in a directory with the project and its tests, N verdicts are
produced again in an empty store and compared. The choice depends on the bundle
and on --seed: choose a seed that the signer could not know.`,
		`  fevalgraph verify leaderboard.bundle --key 'ed25519:pQk… lab'
  fevalgraph verify leaderboard.bundle --key lab.pub --rerun 20 --seed "$(date)"`,
		func(cmd *cobra.Command, args []string) error {
			if len(r.Keys) == 0 {
				return usageError(cmd, errors.New("verify needs the signer's public key: --key KEY, as `fevalgraph keygen` printed it"))
			}
			if r.Rerun < 0 {
				return exit.With(exit.Usage, fmt.Errorf("--rerun %d: want 0 or more", r.Rerun))
			}
			r.File = args[0]
			v, err := eval.Verify(cmd.Context(), a.options(), r)
			if err != nil {
				return err
			}
			if a.flags.json {
				err = a.writeJSON(describe.VerifiedJSON(v))
			} else {
				_, err = io.WriteString(a.io.Out, a.escape(describe.Verified(v)))
			}
			switch {
			case err != nil:
				return err
			case len(v.Findings) > 0 || v.Again != nil && len(v.Again.Different) > 0:
				return exit.With(exit.Failed, nil)
			case v.Again != nil && len(v.Again.Unjudged) > 0:
				return exit.With(exit.NotJudged, errors.New("some of the chosen verdicts could not be produced again"))
			}
			return nil
		})
	cmd.Args = arguments(1, 1, "FILE")
	cmd.Flags().StringArrayVar(&r.Keys, "key", nil, "public `KEY` of the required signature, or a file with it; of several, one must match")
	cmd.Flags().IntVar(&r.Rerun, "rerun", 0, "produce `N` random verdicts again, in the project of this directory")
	cmd.Flags().StringVar(&r.Seed, "seed", "", "`TEXT` that the choice depends on, besides the bundle")
	return cmd
}
