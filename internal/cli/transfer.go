package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/report/text"
)

func (a *app) cachePushCommand() *cobra.Command {
	return a.transferCommand("push", "Send stored results to the remote caches",
		`Push sends the stored answers of the nodes that selectors match, or of all
nodes, to the writable remote caches. A run sends its results by itself; push is
for earlier ones.`, "sent", eval.Push)
}

func (a *app) cachePullCommand() *cobra.Command {
	return a.transferCommand("pull", "Copy results from the remote caches",
		`Pull copies the answers of the nodes that selectors match, or of all nodes, and
the content that they refer to, from remote caches to this machine's store, for
work without a network. A run fetches what it needs by itself.`, "copied", eval.Pull)
}

func (a *app) transferCommand(name, short, long, done string, transfer func(context.Context, eval.Options, eval.Request) (*eval.Transferred, error)) *cobra.Command {
	cmd := command(name+" [SELECTOR...]", short, long, "  fevalgraph cache "+name+"\n  fevalgraph cache "+name+" problem=kvstore",
		func(cmd *cobra.Command, args []string) error {
			t, err := transfer(cmd.Context(), a.options(), eval.Request{Selection: eval.Selection{Targets: args}})
			if err != nil {
				return err
			}
			if a.flags.json {
				err = a.writeJSON(transferObject{1, t.Records, t.Remaining, t.Stale})
			} else if !a.flags.quiet {
				fmt.Fprintf(a.io.Out, "%s %s\n", done, text.Count(t.Records, "record"))
				if t.Stale > 0 {
					fmt.Fprintf(a.io.Err, "left out: %s, stale\n", text.Count(t.Stale, "node"))
				}
			}
			if err == nil && t.Remaining > 0 {
				return exit.With(exit.NotJudged, fmt.Errorf("%s not %s", describe.Records(t.Remaining), done))
			}
			return err
		})
	cmd.Args = cobra.ArbitraryArgs
	return cmd
}
