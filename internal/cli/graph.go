package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
)

// graphFormats lists the formats of graph: drawings, and a list of nodes.
var graphFormats = append(slices.Clone(graph.Formats), "json")

func (a *app) graphCommand() *cobra.Command {
	var format, fold string
	short := map[string]*bool{}
	cmd := command("graph [SELECTOR...]", "Draw the graph",
		`Graph draws the nodes that selectors match, with their dependencies, or all.
Nodes have the colour of their state in the plan, and the duration of their
work. With --fold, all nodes of a kind or of a cell are one box, with the state
that needs attention most and the sum of the durations.`,
		`  fevalgraph graph kvstore/reference --mermaid
  fevalgraph graph --fold kind --dot | dot -Tsvg >graph.svg`,
		func(cmd *cobra.Command, args []string) error {
			for _, name := range graph.Formats {
				if *short[name] {
					format = name
				}
			}
			if a.flags.json {
				format = "json"
			}
			switch {
			case !slices.Contains(graphFormats, format):
				return exit.With(exit.Usage, fmt.Errorf("--format %s: want one of %s", format, strings.Join(graphFormats, ", ")))
			case fold != "" && fold != eval.FoldKind && fold != eval.FoldCell:
				return exit.With(exit.Usage, fmt.Errorf("--fold %s: want %s or %s", fold, eval.FoldKind, eval.FoldCell))
			case fold != "" && format == "json":
				return exit.With(exit.Usage, errors.New("--fold excludes --format json, which has each node"))
			}
			p, err := eval.Open(cmd.Context(), a.options(), eval.Reading)
			if err != nil {
				return err
			}
			defer p.Close()
			targets, err := p.Targets(cmd.Context(), eval.Selection{Targets: args})
			if err != nil {
				return err
			}
			states, err := p.NodeStates(cmd.Context(), targets)
			if err != nil {
				return err
			}
			ids := p.Plan.Graph.Closure(targets)
			if format == "json" {
				return p.Plan.Graph.RenderJSON(a.io.Out, ids, states)
			}
			return p.Plan.Graph.Draw(ids, states, eval.Fold(fold)).Render(a.io.Out, format)
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&format, "format", "dot", strings.Join(graphFormats, ", "))
	cmd.Flags().StringVar(&fold, "fold", "", "one box for all nodes of each `WHAT`: kind, cell")
	for _, name := range graph.Formats {
		short[name] = cmd.Flags().Bool(name, false, "short for --format "+name)
	}
	cmd.MarkFlagsMutuallyExclusive(append(slices.Clone(graph.Formats), "format")...)
	return cmd
}
