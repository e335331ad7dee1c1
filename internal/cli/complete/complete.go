// Package complete completes words of command lines for shells: selectors, addresses, values on axes, runs. It
// reads configurations and records, and runs nothing.
package complete

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/event"
)

// Answer completes a word: it returns candidates, and a directive for the shell.
type Answer = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective)

// Project returns the project that a command is about. Its methods are Answers; they return no candidates if a
// configuration cannot be read.
type Project func(cmd *cobra.Command) eval.Options

// Words completes one of the given words.
func Words(known ...string) Answer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return known, cobra.ShellCompDirectiveNoFileComp
	}
}

// Directories completes the name of a directory.
func Directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// Selectors completes the last term of a selector: an axis and its values, the
// name of a cell, or, after a kind, an address.
func (p Project) Selectors(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	before := word[:strings.LastIndexByte(word, ',')+1]
	term := word[len(before):]
	directive := cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	var all []string
	switch axis, _, found := strings.Cut(term, "="); {
	case found:
		for _, value := range eval.Words(p(cmd)).Values[axis] {
			all = append(all, axis+"="+value)
		}
		directive = cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(term, ":"):
		all = p.addresses(cmd)
	default:
		known := eval.Words(p(cmd))
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

// Nodes completes an argument that denotes one node.
func (p Project) Nodes(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.Selectors(cmd, nil, word)
}

// Eval completes a problem, and then a path.
func (p Project) Eval(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return eval.Words(p(cmd)).Values["problem"], cobra.ShellCompDirectiveNoFileComp
}

// Values completes one of the values on an axis.
func (p Project) Values(axis string) Answer {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return eval.Words(p(cmd)).Values[axis], cobra.ShellCompDirectiveNoFileComp
	}
}

// Axes completes the axes for summaries of results.
func (p Project) Axes(cmd *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
	all := []string{"problem", "solution", "backend"}
	for axis := range eval.Words(p(cmd)).Values {
		if label, ok := strings.CutPrefix(axis, "label."); ok {
			all = append(all, label)
		}
	}
	slices.Sort(all)
	before := word[:strings.LastIndexByte(word, ',')+1]
	return beginning(all, before, word[len(before):]), cobra.ShellCompDirectiveNoFileComp
}

// Runs completes the id of a run.
func (p Project) Runs(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	ids, _ := event.Runs(p(cmd).Records()) // none if records cannot be read
	slices.Reverse(ids)
	return append([]string{"latest", "latest~1"}, ids...), cobra.ShellCompDirectiveNoFileComp
}

// addresses returns the addresses of all nodes, or none for a configuration with errors.
func (p Project) addresses(cmd *cobra.Command) []string {
	opened, err := eval.Open(cmd.Context(), p(cmd), eval.Reading)
	if err != nil {
		return nil
	}
	defer opened.Close()
	return opened.Addresses()
}

// beginning returns the words that begin with a term, each after the text before it.
func beginning(all []string, before, term string) []string {
	var fit []string
	for _, one := range all {
		if strings.HasPrefix(one, term) {
			fit = append(fit, before+one)
		}
	}
	return fit
}
