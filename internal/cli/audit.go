package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) cacheAuditCommand() *cobra.Command {
	var sample int
	cmd := command("audit", "Execute stored results again and compare",
		`Audit takes a random sample of the checkpoint results that a run would serve,
from the store or a remote cache, and executes them again in an empty store. It
names results that differ: their tests depend on something that is not in a key,
such as chance or time, or a trusted user stored a false result.`,
		"  fevalgraph cache audit --sample 20",
		func(cmd *cobra.Command, args []string) error {
			if sample < 1 {
				return exit.With(exit.Usage, fmt.Errorf("--sample %d: want at least 1", sample))
			}
			r, err := eval.Audit(cmd.Context(), a.options(), sample)
			if err != nil {
				return err
			}
			if a.flags.json {
				err = a.writeJSON(auditObject{1, r.Stored, r.Checked, view.OrEmpty(r.Different), view.OrEmpty(r.Unjudged)})
			} else {
				_, err = io.WriteString(a.io.Out, a.escape(describe.Audited(r)))
			}
			switch {
			case err != nil:
				return err
			case len(r.Different) > 0:
				return exit.With(exit.Failed, nil)
			case len(r.Unjudged) > 0:
				return exit.With(exit.NotJudged, errors.New("some results could not be produced again"))
			}
			return nil
		})
	cmd.Flags().IntVar(&sample, "sample", 10, "execute `N` results again, or all if there are fewer")
	return cmd
}
