package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// completer answers a shell that completes a word.
type completer = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// complete registers what arguments and flags of all commands can be.
func (a *app) complete(root *cobra.Command) {
	selectors, nodes := a.completeSelectors, a.completeNodes
	arguments := map[string]completer{
		"fevalgraph": selectors, "run": selectors, "plan": selectors, "status": selectors, "results": selectors, "graph": selectors,
		"diff": a.completeRuns, "compare": a.completeValues("solution"), "explain": nodes, "show": nodes, "log": nodes, "shell": nodes, "eval": a.completeEval,
	}
	flags := map[string]completer{
		"color": words("auto", "always", "never"), "progress": words("auto", "live", "plain", "json", "none"), "cache": words("local:rw", "local:r"),
		"retry": words("broken", "timeout", "error"), "sort": words("name", "failed"), "kind": words(starterKinds()...),
		"run": a.completeRuns, "fail-on": words(selection.ChangeNames()...), "only": selectors, "not": selectors, "force": selectors, "by": a.completeAxes, "metric": words(report.Metrics...), "solutions": a.completeValues("solution"),
		"backend": a.completeValues("backend"), "checkpoint": a.completeValues("checkpoint"), "chdir": directories,
	}
	formats := map[string]completer{"results": words(report.Formats()...), "graph": words(append(slices.Clone(graph.Formats), "svg")...), "diff": words(diffFormats...), "compare": words(report.CompareFormats...)}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.ValidArgsFunction = arguments[cmd.Name()]; cmd.ValidArgsFunction == nil && cmd.ValidArgs == nil {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
		for name, complete := range flags {
			if f := cmd.Flag(name); f != nil && (f.Value.Type() != "bool") && (cmd.LocalFlags().Lookup(name) != nil) {
				_ = cmd.RegisterFlagCompletionFunc(name, complete) // registered twice: the flag is root's and run's
			}
		}
		if complete := formats[cmd.Name()]; complete != nil {
			_ = cmd.RegisterFlagCompletionFunc("format", complete)
		}
		for _, child := range cmd.Commands() {
			visit(child)
		}
	}
	visit(root)
}

// words completes one of some words.
func words(known ...string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return known, cobra.ShellCompDirectiveNoFileComp
	}
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeSelectors completes the last term of a selector: an axis and its values, the
// name of a cell, or, after a kind, an address.
func (a *app) completeSelectors(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	a.findConfig(cmd)
	before := word[:strings.LastIndexByte(word, ',')+1]
	term := word[len(before):]
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	var all []string
	switch axis, _, found := strings.Cut(term, "="); {
	case found:
		for _, value := range eval.Words(a.options()).Values[axis] {
			all = append(all, axis+"="+value)
		}
		directive = cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(term, ":"):
		all = a.addresses(cmd)
	default:
		known := eval.Words(a.options())
		all = slices.Concat(known.Values["problem"], known.Cells)
		for _, axis := range known.Axes {
			all = append(all, axis+"=")
		}
		for _, kind := range known.Values["kind"] {
			all = append(all, kind+":")
		}
	}
	return beginning(all, before, term), directive
}

// completeNodes completes what means one node.
func (a *app) completeNodes(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.completeSelectors(cmd, nil, word)
}

// completeEval completes a problem, and then a path.
func (a *app) completeEval(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	a.findConfig(cmd)
	return eval.Words(a.options()).Values["problem"], cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeValues(axis string) completer {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		a.findConfig(cmd)
		return eval.Words(a.options()).Values[axis], cobra.ShellCompDirectiveNoFileComp
	}
}

// completeAxes completes what results are summed up by.
func (a *app) completeAxes(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	a.findConfig(cmd)
	all := []string{"problem", "solution", "backend"}
	for axis := range eval.Words(a.options()).Values {
		if label, ok := strings.CutPrefix(axis, "label."); ok {
			all = append(all, label)
		}
	}
	slices.Sort(all)
	before := word[:strings.LastIndexByte(word, ',')+1]
	return beginning(all, before, word[len(before):]), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeRuns(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	a.findConfig(cmd)
	ids, _ := event.Runs(a.options().StateDir()) // none, if they cannot be read
	slices.Reverse(ids)
	return append([]string{"latest", "latest~1"}, ids...), cobra.ShellCompDirectiveNoFileComp
}

// addresses are those of all nodes; none of a configuration with mistakes.
func (a *app) addresses(cmd *cobra.Command) []string {
	p, err := eval.Open(cmd.Context(), a.options(), eval.Reading)
	if err != nil {
		return nil
	}
	defer p.Close()
	return p.Addresses()
}

// beginning are those of all that begin with a term, with what stands before it.
func beginning(all []string, before, term string) []string {
	var fit []string
	for _, one := range all {
		if strings.HasPrefix(one, term) {
			fit = append(fit, before+one)
		}
	}
	return fit
}
