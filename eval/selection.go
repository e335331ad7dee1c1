package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Selection selects nodes of the graph. The zero value selects everything.
type Selection = selection.Selection

// Targets returns the nodes that a selection selects.
func (p *Project) Targets(ctx context.Context, s Selection) ([]graph.ID, error) {
	wanted, err := p.matcher(ctx, s.Targets)
	if err != nil {
		return nil, err
	}
	only, err := p.matcher(ctx, s.Only)
	if err != nil {
		return nil, err
	}
	not, err := p.matcher(ctx, s.Not)
	if err != nil {
		return nil, err
	}
	paired, err := p.call.paired(s.Pairs)
	if err != nil {
		return nil, err
	}
	out := leftOut(p.Plan.Graph, not)
	var ids []graph.ID
	for id := range graph.ID(p.Plan.Graph.Len()) {
		n := p.Plan.Graph.Node(id)
		if (wanted == nil || wanted(n)) && (only == nil || only(n)) && (paired == nil || paired(n)) && (out == nil || !out[id]) {
			ids = append(ids, id)
		}
	}
	for _, flag := range []struct {
		name string
		args []string
	}{{"", s.Targets}, {"--only ", s.Only}, {"--not ", s.Not}} {
		if err := p.eachMatches(ctx, flag.name, flag.args); err != nil {
			return nil, err
		}
	}
	args := slices.Concat(s.Targets, s.Only, s.Not)
	if len(ids) == 0 && (len(args) > 0 || s.Pairs != "") {
		asked := strings.Join(args, " ")
		if s.Pairs != "" {
			asked += " among the pairs of " + s.Pairs
		}
		return nil, p.matchesNothing(asked, args)
	}
	return ids, nil
}

// eachMatches returns an error if one of the selectors matches nothing: it is a typo, regardless of the others.
func (p *Project) eachMatches(ctx context.Context, flag string, args []string) error {
	for _, arg := range args {
		match, err := p.matcher(ctx, []string{arg})
		if err != nil {
			return err
		}
		found := strings.Contains(arg, "verdict=") || strings.Contains(arg, "state=") // a valid selector can match no result
		for id := graph.ID(0); !found && int(id) < p.Plan.Graph.Len(); id++ {
			found = match(p.Plan.Graph.Node(id))
		}
		if !found {
			return p.matchesNothing(flag+arg, []string{arg})
		}
	}
	return nil
}

// matchesNothing returns the error for selectors without a match. asked is how the user gave them.
func (p *Project) matchesNothing(asked string, args []string) error {
	names := selection.Known{}
	for id := range graph.ID(p.Plan.Graph.Len()) {
		n := p.Plan.Graph.Node(id)
		names.Add("kind", n.Kind)
		for _, l := range n.Labels {
			names.Add(l.Name, l.Value)
		}
	}
	if selector, err := p.call.selector(args); err == nil {
		args = selector.Leaves()
	}
	return exit.Unmatched("%s matches nothing%s; known are %s; `fevalgraph list nodes` shows all addresses", asked, names.DidYouMean(args), names.Summary())
}

// leftOut marks, by id, the nodes that not matches and everything that depends on them, since targets include their
// dependencies. It returns nil if not is nil.
func leftOut(g *graph.Graph, not func(*graph.Node) bool) []bool {
	if not == nil {
		return nil
	}
	out := make([]bool, g.Len())
	for id := range graph.ID(len(out)) { // dependencies come first
		n := g.Node(id)
		out[id] = not(n) || slices.ContainsFunc(n.Deps, func(d graph.Dep) bool { return out[d.On] })
	}
	return out
}

// selector parses selector arguments for nodes of the project.
func (c *call) selector(args []string) (*graph.Selector, error) {
	syntax := graph.Syntax{Axes: selection.AxesOf(c.Config).Names, Graph: true, Expand: expander(c.Config)}
	s, err := syntax.Parse(args)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return s, nil
}

// expander returns a function that expands names, references and published files in terms.
func expander(cfg *lang.Config) func(term string) string {
	names := selection.Expander(func() selection.Known { return knownNames(cfg) })
	return func(term string) string { return cmp.Or(publisherOf(cfg, term), names(term)) }
}

// recordedName returns the argument for a node of a recorded run, with references expanded if the configuration
// can be read.
func recordedName(o Options, arg string) string {
	if !selection.NamesCells(arg) {
		return arg
	}
	if cfg := o.Configured(); cfg != nil {
		if addr := expander(cfg)(arg); strings.Contains(addr, ":") { // records do not know axes
			return addr
		}
	}
	return arg
}

// matcher returns a predicate over nodes of the plan for selector arguments; nil without arguments.
func (p *Project) matcher(ctx context.Context, args []string) (func(*graph.Node) bool, error) {
	if len(args) == 0 {
		return nil, nil
	}
	axes := selection.AxesOf(p.call.Config)
	selector, err := p.call.selector(args)
	if err != nil {
		return nil, err
	}
	verdicts, err := p.verdicts(ctx, args)
	if err != nil {
		return nil, err
	}
	states, err := p.states(ctx, args)
	if err != nil {
		return nil, err
	}
	values := func(n *graph.Node, axis string) []string {
		switch axis {
		case "verdict":
			return verdicts[plan.NodeCell(n)]
		case "state":
			return states(n)
		}
		return axes.Values(n, axis)
	}
	if !selector.NeedsScope() {
		return func(n *graph.Node) bool {
			return selector.Match(n.Addr, func(axis string) []string { return values(n, axis) }, cellName(n))
		}, nil
	}
	of := p.Plan.Graph
	picked, err := selector.Nodes(graph.Scope{Graph: of, Group: cellName, Values: values, Readers: func(path string) ([]bool, error) { return p.readers(ctx, path) }})
	if err != nil {
		return nil, err
	}
	return func(n *graph.Node) bool { id, ok := of.Lookup(n.Addr); return ok && picked[id] }, nil
}

// cellName returns the name of the cell that a node belongs to, by which selectors match all of its nodes.
func cellName(n *graph.Node) string { return plan.CellName(n.Addr) }

// knownNames returns the names that a configuration declares.
func knownNames(cfg *lang.Config) selection.Known {
	names := selection.Known{}
	for _, x := range cfg.Problems {
		names.Add("problem", x.Name)
		for _, c := range x.Checkpoints {
			names.Add("checkpoint", c.Name)
		}
		for _, tag := range x.Tags {
			names.Add("tag", tag)
		}
	}
	for _, x := range cfg.Solutions {
		names.Add("solution", x.Name)
	}
	for _, x := range cfg.Backends {
		names.Add("backend", x.Addr())
	}
	for _, x := range cfg.Suites {
		names.Add("suite", x.Name)
	}
	for _, x := range cfg.Tasks {
		names.Add("task", x.Name)
	}
	return names
}

// verdicts returns the words for the verdicts of checkpoints, as `fevalgraph results` shows them; nil unless a
// selector uses verdicts.
func (p *Project) verdicts(ctx context.Context, args []string) (map[plan.CellID][]string, error) {
	if !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "verdict=") }) {
		return nil, nil
	}
	if p.words != nil { // shared by several lists of selectors
		return p.words, nil
	}
	x, err := p.decideAll(ctx)
	if err != nil {
		return nil, err
	}
	all, err := x.checkpoints(ctx)
	if err != nil {
		return nil, err
	}
	p.words = map[plan.CellID][]string{}
	for _, one := range all {
		p.words[one.Cell] = selection.VerdictWords(one.result())
	}
	return p.words, nil
}

// Node finds the node that an argument names: by its address, a selector that matches one node, or the name of
// a cell, which means its first grading node.
func (p *Project) Node(ctx context.Context, arg string) (graph.ID, error) {
	ids, err := p.named(ctx, arg)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// named implements Node, and returns all grading nodes of a cell.
func (p *Project) named(ctx context.Context, arg string) ([]graph.ID, error) {
	if id, ok := p.Plan.Graph.Lookup(arg); ok {
		return []graph.ID{id}, nil
	}
	ids, err := p.Targets(ctx, Selection{Targets: []string{arg}})
	if err != nil {
		return nil, err
	}
	if selection.NamesCells(arg) {
		found := selection.Highest(ids, func(id graph.ID) int { return selection.GradingRank(p.Plan.Graph.Node(id).Kind) })
		switch {
		case len(found) == 0:
		case selection.OneCell(found, func(id graph.ID) string { return p.Plan.Graph.Node(id).Addr }):
			return found, nil
		default:
			ids = found
		}
	}
	id, err := singleNode(p.Plan.Graph, arg, ids)
	return []graph.ID{id}, err
}

// singleNode returns the only node that matches an argument.
func singleNode(g *graph.Graph, arg string, ids []graph.ID) (graph.ID, error) {
	if len(ids) > 1 {
		return 0, exit.Unmatched("%q matches %d nodes; name one of them:\n  %s", arg, len(ids), strings.Join(addresses(g, ids, 10), "\n  "))
	}
	return ids[0], nil
}

func addresses(g *graph.Graph, ids []graph.ID, limit int) []string {
	var out []string
	for i, id := range ids {
		if i == limit {
			out = append(out, fmt.Sprintf("... and %d more", len(ids)-limit))
			break
		}
		out = append(out, g.Node(id).Addr)
	}
	return out
}
