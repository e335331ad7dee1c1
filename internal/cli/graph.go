package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
)

// graphFormats are those of graph; svg takes a program.
var graphFormats = append(slices.Clone(graph.Formats), "svg")

func (a *app) graphCommand() *cobra.Command {
	var format string
	cmd := command("graph [SELECTOR...]", "Print the graph",
		`Graph prints what the selectors pick with all that it needs, or everything. The
svg format needs Graphviz's dot program.`,
		`  fevalgraph graph problem=kvstore --format mermaid
  fevalgraph graph --format svg > graph.svg`,
		func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(graphFormats, format) {
				return exit.With(exit.Usage, fmt.Errorf("--format %s: want one of %s", format, strings.Join(graphFormats, ", ")))
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
			ids := p.Plan.Graph.Closure(targets)
			if a.flags.json {
				format = "json"
			}
			if format != "svg" {
				return p.Plan.Graph.Render(a.io.Out, format, ids)
			}
			return a.renderSVG(cmd, p.Plan.Graph, ids)
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().StringVar(&format, "format", "dot", strings.Join(graphFormats, ", "))
	return cmd
}

func (a *app) renderSVG(cmd *cobra.Command, g *graph.Graph, ids []graph.ID) error {
	dot, err := exec.LookPath("dot")
	if err != nil {
		return exit.With(exit.NotJudged, errors.New("dot: not found in PATH (hint: install Graphviz: apt-get install graphviz)"))
	}
	var in bytes.Buffer
	if err := g.Render(&in, "dot", ids); err != nil {
		return err
	}
	c := exec.CommandContext(cmd.Context(), dot, "-Tsvg")
	c.Stdin, c.Stdout, c.Stderr = &in, a.io.Out, a.io.Err
	if err := c.Run(); err != nil {
		return exit.With(exit.NotJudged, fmt.Errorf("dot: %w", err))
	}
	return nil
}
