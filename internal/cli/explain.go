package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/view"
)

func (a *app) explainCommand() *cobra.Command {
	var run string
	cmd := command("explain ADDR", "Why a node ran, would run, or was cached",
		`Explain shows, field by field and file by file, what changed since the last
answer for a node and so makes it stale, or that nothing did. With --run it says
why the node ran, or was served, in a past run, from that run's record.

ADDR is a node's address, or a selector that fits just one.`,
		`  fevalgraph explain 'pytest:kvstore/basic/reference@local.host'
  fevalgraph explain 'pytest:kvstore/basic/*' -v
  fevalgraph explain 'parse:kvstore/*' --run latest`,
		func(cmd *cobra.Command, args []string) error {
			if run != "" {
				return a.explainPast(args[0], run)
			}
			return a.explainNow(cmd.Context(), args[0])
		})
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().StringVar(&run, "run", "", "a past run: its `ID`, a part of it, or latest")
	return cmd
}

func (a *app) explainNow(ctx context.Context, arg string) error {
	p, err := a.open(ctx, a.langOptions(), reading)
	if err != nil {
		return err
	}
	defer p.close()
	id, err := p.node(ctx, arg)
	if err != nil {
		return err
	}
	rep, err := p.dryRun(ctx, evaluation{targets: []graph.ID{id}})
	if err != nil {
		return err
	}
	return a.showExplanation(p.explanation(ctx, rep, id))
}

func (p *project) explanation(ctx context.Context, rep *graph.Report, id graph.ID) view.Explanation {
	n, st := p.plan.Graph.Node(id), rep.Status(id)
	state, _ := planState(st)
	e := view.Explanation{Addr: n.Addr, Kind: n.Kind, State: state, Key: keyOf(st), Cause: planCause(st), Changes: st.Changes, Verbose: p.app.flags.verbose}
	if last, ok := p.log.Get(n.Addr); ok {
		if !last.Key.IsZero() {
			e.PreviousKey, e.Run, e.LastClass, e.LastMessage = last.Key.String(), last.Run, string(last.Class), last.Message
		}
		if last.Broken != "" {
			e.LastClass, e.LastMessage = "broken", last.Broken
		}
	}
	if fields, err := graph.DecodeManifest(st.Manifest); err == nil {
		for _, f := range fields {
			e.Fields = append(e.Fields, view.Field{Label: f.Label, Value: f.Value})
		}
	}
	for _, d := range n.Deps {
		ds := rep.Status(d.On)
		depState, _ := planState(ds)
		e.Deps = append(e.Deps, view.DepState{Addr: p.plan.Graph.Node(d.On).Addr, State: depState, Cause: planCause(ds)})
	}
	return e
}

func (a *app) explainPast(addr, name string) error {
	run, err := event.FindRun(a.projectState(), name)
	if err != nil {
		return exit(exitUsage, err)
	}
	done, err := a.pastNode(run, addr)
	if err != nil {
		return err
	}
	e := view.Explanation{Addr: done.Addr, Kind: done.Kind, State: string(done.State), Key: done.Key, Cause: done.Cause,
		Run: run.ID, Changes: done.Changes, LastClass: string(done.State), LastMessage: done.Message, Verbose: a.flags.verbose}
	return a.showExplanation(e)
}

// pastNode finds a node in a run's record by its address, or by a selector
// that fits just one.
func (a *app) pastNode(run *event.Run, arg string) (*event.NodeDone, error) {
	selector, err := graph.ParseSelector([]string{arg}, nil)
	if err != nil {
		return nil, exit(exitUsage, err)
	}
	byAddr := map[string]event.NodeDone{}
	var order []string
	err = run.Each(func(e event.Event) bool {
		done, ok := e.(event.NodeDone)
		if ok && selector.Match(done.Addr, nil) {
			if _, seen := byAddr[done.Addr]; !seen {
				order = append(order, done.Addr)
			}
			byAddr[done.Addr] = done
		}
		return true
	})
	if err != nil {
		return nil, exit(pastFault(err), err)
	}
	if done, ok := byAddr[arg]; ok {
		return &done, nil
	}
	switch len(order) {
	case 0:
		return nil, noMatch("%q was not in run %s", arg, run.ID)
	case 1:
		done := byAddr[order[0]]
		return &done, nil
	}
	return nil, noMatch("%q fits %d nodes of run %s, such as %s and %s", arg, len(order), run.ID, order[0], order[1])
}

func (a *app) showExplanation(e view.Explanation) error {
	if a.flags.json {
		return a.writeJSON(explanationJSON{Schema: 1, Addr: e.Addr, Kind: e.Kind, State: e.State, Key: e.Key, PreviousKey: e.PreviousKey,
			Cause: e.Cause, Run: e.Run, Changes: orEmpty(e.Changes), Fields: orEmpty(e.Fields), Deps: orEmpty(e.Deps)})
	}
	view.Explain(a.io.Out, e, a.color())
	return nil
}

// explanationJSON is what explain --json prints.
type explanationJSON struct {
	Schema      int             `json:"schema"`
	Addr        string          `json:"addr"`
	Kind        string          `json:"kind"`
	State       string          `json:"state"`
	Key         string          `json:"key,omitempty"`
	PreviousKey string          `json:"previous_key,omitempty"`
	Cause       string          `json:"cause"`
	Run         string          `json:"run,omitempty"`
	Changes     []event.Change  `json:"changes"`
	Fields      []view.Field    `json:"fields"`
	Deps        []view.DepState `json:"deps"`
}
