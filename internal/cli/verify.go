package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) verifyCommand() *cobra.Command {
	var r eval.VerifyRequest
	cmd := command("verify FILE --key KEY", "Check a file that bundle made",
		`Verify checks that a bundle is signed by a key that you name, and that all of
it holds together: each manifest and result is what its digest says, each
verdict is what its result says, and each result was made from what its
manifests name. It needs neither the project nor its store.

With --rerun N, in a directory with the project and its tests, N verdicts are
made again in an empty store and compared. Which ones follows from the bundle
and from --seed: choose a seed that the signer could not know.`,
		`  fevalgraph verify leaderboard.bundle --key 'ed25519:pQk… lab'
  fevalgraph verify leaderboard.bundle --key lab.pub --rerun 20 --seed "$(date)"`,
		func(cmd *cobra.Command, args []string) error {
			if len(r.Keys) == 0 {
				return usageError(cmd, errors.New("verify needs the public key of who made the bundle: --key KEY, as `fevalgraph keygen` printed it"))
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
				err = a.writeJSON(verifiedJSON(v))
			} else {
				a.printVerified(v)
			}
			switch {
			case err != nil:
				return err
			case len(v.Findings) > 0 || v.Again != nil && len(v.Again.Different) > 0:
				return exit.With(exit.Failed, nil)
			case v.Again != nil && len(v.Again.Unjudged) > 0:
				return exit.With(exit.NotJudged, errors.New("not every verdict that was drawn could be made again"))
			}
			return nil
		})
	cmd.Args = arguments(1, 1, "FILE")
	cmd.Flags().StringArrayVar(&r.Keys, "key", nil, "public `KEY` that has to have signed, or a file with it; of several, one")
	cmd.Flags().IntVar(&r.Rerun, "rerun", 0, "make `N` verdicts that are drawn again, in the project of this directory")
	cmd.Flags().StringVar(&r.Seed, "seed", "", "`TEXT` that the draw depends on, beside the bundle")
	return cmd
}

func (a *app) printVerified(v *eval.Verified) {
	out := a.io.Out
	fmt.Fprintf(out, "run %s, %s on %s\n", v.Run, text.Count(len(v.Entries.Verdicts), "verdict"), text.Count(len(v.Entries.Nodes), "node"))
	fmt.Fprintf(out, "root %s\n", v.Root)
	for _, f := range v.Findings {
		what := f.What
		if f.Name != "" {
			what += " of " + a.shown(f.Name)
		}
		fmt.Fprintf(out, "WRONG %s: %s\n", what, a.shown(f.Message))
	}
	if len(v.Findings) == 0 {
		fmt.Fprintf(out, "signed, %s\n", a.standing(v))
	}
	if v.Again == nil {
		return
	}
	for _, d := range v.Again.Different {
		cause := "no other inputs found"
		if len(d.Causes) > 0 {
			cause = "from other inputs: " + strings.Join(d.Causes, ", ")
		}
		fmt.Fprintf(out, "different: %s, %s\n", a.shown(d.Addr), a.shown(cause))
	}
	for _, u := range v.Again.Unjudged {
		fmt.Fprintf(out, "could not be made again: %s: %s\n", a.shown(u.Addr), a.shown(u.Message))
	}
	fmt.Fprintf(out, "made %d again: %d different\n", v.Again.Checked, len(v.Again.Different))
}

// standing says how verdicts without a finding are known.
func (a *app) standing(v *eval.Verified) string {
	rest := len(v.Entries.Verdicts) - v.Proven - v.Imported - v.Unjudged
	parts := []string{fmt.Sprintf("%d proven by their results and manifests", v.Proven)}
	for _, p := range []struct {
		n    int
		what string
	}{{rest, "stated by the signer (tests are withheld)"}, {v.Imported, "judged by another tool"}, {v.Unjudged, "not judged"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

func verifiedJSON(v *eval.Verified) map[string]any {
	j := map[string]any{"schema": 1, "run": v.Run, "version": v.Version, "root": v.Root, "signed": v.Signed, "withheld": view.OrEmpty(v.Withheld), "nodes": len(v.Entries.Nodes),
		"verdicts": len(v.Entries.Verdicts), "proven": v.Proven, "imported": v.Imported, "unjudged": v.Unjudged, "findings": view.OrEmpty(v.Findings)}
	if v.Again != nil {
		j["rerun"] = map[string]any{"checked": v.Again.Checked, "different": view.OrEmpty(v.Again.Different), "unjudged": view.OrEmpty(v.Again.Unjudged)}
	}
	return j
}
