package eval

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/eval/shell"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Shell brings the inputs of a node up to date, makes its workspace and runs a shell in it. It stores nothing.
// A case of a judge problem gets a workspace on this machine, since its sandbox has no terminal.
func Shell(ctx context.Context, o Options, arg string, r shell.Request) (err error) {
	p, err := Open(ctx, o, Writing)
	if err != nil {
		return err
	}
	defer func() { err = p.call.closeAfter(err) }()
	id, err := p.workspaceNode(ctx, arg)
	if err != nil {
		return err
	}
	node := p.Plan.Graph.Node(id)
	var needs []graph.ID
	for _, d := range node.Deps {
		needs = append(needs, d.On)
	}
	rep, err := p.bringUpToDate(ctx, needs)
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	for _, need := range rep.Nodes {
		if st := rep.Status(need); st.Message != "" && (len(st.Outputs) == 0 || graph.Refused(st.Outputs)) {
			return exit.With(exit.NotJudged, fmt.Errorf("%s: %s", p.Plan.Graph.Node(need).Addr, st.Message))
		}
	}
	m := shell.Maker{Plan: p.Plan, Report: rep, Environment: p.call.environment()}
	return m.Open(ctx, id, r)
}

// workspaceNode finds the node whose workspace an argument names. The name of a cell means the node that runs
// its programs. For the run of a case it is the node of its check, which runs the program in the same workspace.
func (p *Project) workspaceNode(ctx context.Context, arg string) (graph.ID, error) {
	if run, ok := strings.CutPrefix(arg, plan.KindRun+":"); ok {
		arg = plan.KindCheck + ":" + run
	}
	if !selection.NamesCells(arg) {
		id, err := p.Node(ctx, arg)
		if err == nil && !shell.HasWorkspace(p.Plan.Graph.Node(id).Kind) {
			err = shell.NoWorkspace(p.Plan.Graph.Node(id).Addr)
		}
		return id, err
	}
	ids, err := p.Targets(ctx, Selection{Targets: []string{arg}})
	if err != nil {
		return 0, err
	}
	found := slices.DeleteFunc(slices.Clone(ids), func(id graph.ID) bool { return !shell.HasWorkspace(p.Plan.Graph.Node(id).Kind) })
	if len(found) == 0 {
		return 0, shell.NoWorkspace(p.Plan.Graph.Node(ids[0]).Addr)
	}
	return singleNode(p.Plan.Graph, arg, found)
}
