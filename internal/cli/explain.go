package cli

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) explainCommand() *cobra.Command {
	var run string
	cmd := command("explain [ADDR]", "Show why a node ran, would run, or was cached",
		`Explain shows, field by field and file by file, what changed since the last
answer for a node and makes it stale, or that nothing did. With --run it shows
why the node ran or was served in a past run, from that run's record.

ADDR is a node's address, or a selector that matches one node. Without one, it
is that of the first failure of the run.`,
		`  fevalgraph explain
  fevalgraph explain 'pytest:kvstore/basic/reference@local.host'
  fevalgraph explain 'pytest:kvstore/basic/*' -v
  fevalgraph explain 'parse:kvstore/*' --run latest`,
		func(cmd *cobra.Command, args []string) error {
			addr, err := a.nodeOr(args, cmp.Or(run, "latest"))
			if err != nil {
				return err
			}
			explain := func() (*eval.Explanation, error) { return eval.Explain(cmd.Context(), a.options(), addr) }
			if run != "" {
				explain = func() (*eval.Explanation, error) { return eval.ExplainPast(a.options(), addr, run) }
			}
			e, err := explain()
			if err != nil {
				return err
			}
			return a.showExplanation(e)
		})
	cmd.Args = arguments(0, 1, "")
	cmd.Flags().StringVar(&run, "run", "", "a past run: its `ID`, a part of it, or latest")
	return cmd
}

func (a *app) showExplanation(e *eval.Explanation) error {
	shown := view.Explanation{Addr: e.Addr, Kind: e.Kind, State: e.State, Key: e.Key, PreviousKey: e.PreviousKey, Cause: e.Cause, Root: e.Root, RootAddr: e.RootAddr, Run: e.Run,
		Changes: view.OrEmpty(e.Changes), Omitted: e.Omitted, Fields: []view.Field{}, Deps: []view.DepState{}, LastClass: e.LastClass, LastMessage: e.LastMessage, Verbose: a.flags.verbose}
	for _, f := range e.Fields {
		shown.Fields = append(shown.Fields, view.Field{Label: f.Label, Value: f.Value})
	}
	for _, d := range e.Deps {
		shown.Deps = append(shown.Deps, view.DepState{Addr: d.Addr, State: d.State, Cause: d.Cause})
	}
	if a.flags.json {
		return a.writeJSON(explainObject{1, shown})
	}
	view.Explain(a.io.Out, shown, a.lines())
	return nil
}
