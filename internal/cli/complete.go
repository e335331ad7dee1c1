package cli

import (
	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/internal/cli/complete"
	"github.com/fevalgraph/fevalgraph/report"
)

// complete registers the completions for arguments and flags of all commands.
func (a *app) complete(root *cobra.Command) {
	project := complete.Project(func(cmd *cobra.Command) eval.Options {
		a.findConfig(cmd)
		return a.options()
	})
	words, selectors, nodes := complete.Words, project.Selectors, project.Nodes
	arguments := map[string]complete.Answer{
		"fevalgraph": selectors, "run": selectors, "plan": selectors, "status": selectors, "results": selectors, "query": selectors, "graph": selectors,
		"diff": project.Runs, "compare": project.Values("solution"), "explain": nodes, "show": nodes, "log": nodes, "get": nodes, "shell": nodes, "eval": project.Eval,
	}
	flags := map[string]complete.Answer{
		"color": words("auto", "always", "never"), "progress": words("auto", "live", "plain", "json", "none"), "cache": words("local:rw", "local:r"),
		"retry": words("broken", "timeout", "error"), "sort": words("name", "failed"), "kind": words(starterKinds()...),
		"run": project.Runs, "fail-on": words(selection.ChangeNames()...), "only": selectors, "not": selectors, "force": selectors, "by": project.Axes, "metric": words(report.Metrics...), "solutions": project.Values("solution"),
		"backend": project.Values("backend"), "checkpoint": project.Values("checkpoint"), "chdir": complete.Directories,
	}
	formats := map[string]complete.Answer{"results": words(report.Formats()...), "graph": words(graphFormats...), "diff": words(diffFormats...), "compare": words(report.CompareFormats...), "report": words(reportFormats...)}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction = arguments[cmd.Name()]; cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for name, answer := range flags {
			if f := cmd.Flag(name); f != nil && (f.Value.Type() != "bool") && (cmd.LocalFlags().Lookup(name) != nil) {
				_ = cmd.RegisterFlagCompletionFunc(name, answer) // registered twice: the flag is root's and run's
			}
		}
		if answer := formats[cmd.Name()]; answer != nil {
			_ = cmd.RegisterFlagCompletionFunc("format", answer)
		}
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(root)
}
