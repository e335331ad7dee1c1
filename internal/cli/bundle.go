package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/provenance"
	"github.com/fevalgraph/fevalgraph/report/text"
)

func (a *app) bundleCommand() *cobra.Command {
	r := eval.BundleRequest{Run: "latest"}
	cmd := command("bundle [RUN] -o FILE", "Export the evidence for a run's verdicts as a signed file",
		`Bundle writes a file that anyone can check with verify. For each verdict of a
run it contains the result, its logs, and the keys, manifests and digests of all
its inputs. One signature, by the key in FEVALGRAPH_SIGNING_KEY, covers it all.

The file contains only digests of tests and submissions. --withhold tests also
omits everything that names tests: results with their tests, logs, and the
manifests of tests.`,
		`  fevalgraph keygen -o ~/.config/fevalgraph.key --name lab
  export FEVALGRAPH_SIGNING_KEY=~/.config/fevalgraph.key
  fevalgraph bundle -o leaderboard.bundle
  fevalgraph bundle latest~1 -o before.bundle --withhold tests`,
		func(cmd *cobra.Command, args []string) error {
			if r.File == "" {
				return usageError(cmd, errors.New("bundle needs a file to write: -o FILE"))
			}
			for _, one := range r.Withhold {
				if !slices.Contains(provenance.Withheld, one) {
					return exit.With(exit.Usage, text.Unknown("content to withhold", one, provenance.Withheld))
				}
			}
			if len(args) > 0 {
				r.Run = args[0]
			}
			b, err := eval.Bundle(cmd.Context(), a.options(), r)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(bundleObject{1, r.File, b.Run, b.Verdicts, b.Nodes, b.Bytes, b.Signer})
			}
			if !a.flags.quiet {
				fmt.Fprintf(a.io.Out, "%s: run %s, %s on %s (%s), signed by\n%s\n", r.File, b.Run, text.Count(b.Verdicts, "verdict"), text.Count(b.Nodes, "node"), text.Bytes(b.Bytes), b.Signer)
			}
			return nil
		})
	cmd.Args = arguments(0, 1, "RUN")
	cmd.Flags().StringVarP(&r.File, "output", "o", "", "`FILE` to write")
	cmd.Flags().StringSliceVar(&r.Withhold, "withhold", nil, "omit `CONTENT`: "+strings.Join(provenance.Withheld, ", "))
	return cmd
}
