package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/generate"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/view"
)

// trustVariable is the variable that trusts the project of a call, as --trust does.
const trustVariable = "FEVALGRAPH_TRUST"

// trustsProject reports whether the caller trusts the project of this call.
func (a *app) trustsProject() bool {
	value, _ := a.io.LookupEnv(trustVariable)
	yes, err := strconv.ParseBool(value)
	return a.flags.trust || err == nil && yes
}

func (a *app) trustCommand() *cobra.Command {
	revoke, list := false, false
	cmd := command("trust [DIR]", "Permit read-only commands to query a project's backends",
		`Trust permits plan, status, explain, results and doctor to run what the
configuration in DIR names to identify its backends: commands of versions,
programs, images and servers. It lists them and runs none; on a terminal it asks
first. Each of them is trusted separately: added or changed ones need trust
again, and other edits do not.

Run, watch, eval, lock, shell and cache audit trust the project that they
execute. Without trust, read-only commands execute nothing of it, and show what
depends on it as unknown; merge, cache pull and cache push refuse it. In CI,
--trust or FEVALGRAPH_TRUST=1 trusts the project of one call.`,
		`  fevalgraph trust
  fevalgraph trust --revoke evals
  fevalgraph trust --list`,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.flags.dir = filepath.Join(a.flags.dir, args[0])
				if filepath.IsAbs(args[0]) {
					a.flags.dir = args[0]
				}
			}
			switch {
			case revoke && list:
				return usageError(cmd, fmt.Errorf("--revoke and --list are mutually exclusive"))
			case list:
				return a.listTrust()
			case revoke:
				return a.runDistrust()
			}
			return a.runTrust(cmd.Context())
		})
	cmd.Args = arguments(0, 1, "DIR")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "revoke the trust in the project")
	cmd.Flags().BoolVar(&list, "list", false, "list the trusted projects")
	return cmd
}

func (a *app) runTrust(ctx context.Context) error {
	root, backends, err := eval.Trust(ctx, a.options(), generate.Trusted, a.confirmTrust)
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.writeJSON(trustObject{1, root, view.OrEmpty(backends)})
	}
	if a.flags.quiet {
		return nil
	}
	_, err = io.WriteString(a.io.Out, describe.Trusted(root, backends))
	return err
}

// confirmTrust shows what a project would be trusted with on a terminal, and asks the user.
func (a *app) confirmTrust(root string, all []user.Trusted) error {
	terminal, ok := view.Terminal(a.io.In)
	if !ok || len(all) == 0 {
		return nil
	}
	fmt.Fprintf(a.io.Err, "%sTrust it? [y/N] ", describe.Trusting(root, all))
	answer, err := bufio.NewReader(terminal).ReadString('\n')
	if yes := strings.ToLower(strings.TrimSpace(answer)); err == nil && (yes == "y" || yes == "yes") {
		return nil
	}
	return exit.With(exit.Usage, errors.New("nothing was trusted"))
}

func (a *app) runDistrust() error {
	root, was, err := eval.Distrust(a.options())
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.writeJSON(distrustObject{1, root, was})
	}
	if a.flags.quiet {
		return nil
	}
	now := "no longer trusted"
	if !was {
		now = "not trusted"
	}
	fmt.Fprintf(a.io.Out, "%s is %s\n", text.Line(root, 0), now)
	return nil
}

func (a *app) listTrust() error {
	roots, err := eval.TrustedProjects(a.options())
	if err != nil {
		return err
	}
	if a.flags.json {
		return a.writeJSON(trustedObject{1, view.OrEmpty(roots)})
	}
	for _, root := range roots {
		fmt.Fprintln(a.io.Out, text.Line(root, 0))
	}
	return nil
}
