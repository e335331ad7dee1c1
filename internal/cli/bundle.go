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
	cmd := command("bundle [RUN] -o FILE", "Put what a run's verdicts rest on into a signed file",
		`Bundle writes one file that anybody can check with verify: for each verdict of a
run the keys, manifests and digests of all that it rests on, its result and its
logs. One signature, by the key in FEVALGRAPH_SIGNING_KEY, covers everything.

Tests and submissions themselves stay out; only their digests are in the file.
--withhold tests also leaves out what names tests: results with their tests,
logs, and the manifests of tests.`,
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
	cmd.Flags().StringSliceVar(&r.Withhold, "withhold", nil, "leave out `CONTENT`: "+strings.Join(provenance.Withheld, ", "))
	return cmd
}
