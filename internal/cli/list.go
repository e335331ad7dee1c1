package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/view"
)

// coverageKind is the argument of list for present and missing solutions.
const coverageKind = "coverage"

func listKinds() []string { return append(slices.Clone(describe.Lists), coverageKind) }

func (a *app) listCommand() *cobra.Command {
	var pairs string
	cmd := command("list [THING] [SELECTOR...]", "List what the configuration describes",
		`List prints all objects of a kind, by default the cells, or the tasks of a
project without cells. Kinds are
`+strings.Replace(strings.Join(listKinds(), ", "), "cells, ", "cells,\n", 1)+`.
Selectors select a part of problems, solutions, tasks, cells or nodes.

Coverage counts, for each problem, how many expected solutions are present,
missing, failed, or empty files. The configuration lists the expected solutions
or, with --pairs, the file.`,
		`  fevalgraph list problems
  fevalgraph list tag=web
  fevalgraph list nodes --json
  fevalgraph list coverage --pairs nightly.txt`,
		func(cmd *cobra.Command, args []string) error {
			kind := ""
			if len(args) > 0 && slices.Contains(listKinds(), args[0]) {
				kind, args = args[0], args[1:]
			}
			return a.runList(cmd.Context(), kind, pairs, args)
		})
	addPairs(cmd, &pairs, "with coverage: `FILE` of pairs with the expected solutions")
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgs = listKinds()
	return cmd
}

func (a *app) runList(ctx context.Context, kind, pairs string, selectors []string) error {
	switch {
	case pairs != "" && kind != coverageKind:
		return exit.With(exit.Usage, fmt.Errorf("--pairs requires list %s", coverageKind))
	case len(selectors) > 0 && kind != "" && !slices.Contains(describe.Selectable, kind):
		return exit.With(exit.Usage, fmt.Errorf("list %s takes no selectors; %s do", kind, strings.Join(describe.Selectable, ", ")))
	}
	p, err := eval.Open(ctx, a.options(), eval.Reading)
	if err != nil {
		return err
	}
	defer p.Close()
	switch {
	case kind == coverageKind:
		return a.listCoverage(p, pairs)
	case kind == "" && len(p.Plan.Cells) == 0 && len(p.Plan.Config.Tasks) > 0:
		kind = "tasks"
	case kind == "":
		kind = "cells"
	}
	l := describe.List(p.Plan, kind)
	if len(selectors) > 0 {
		ids, err := p.Targets(ctx, eval.Selection{Targets: selectors})
		if err != nil {
			return notListed(err, selectors[0])
		}
		l = l.Picked(p.Plan, kind, ids)
	}
	if a.flags.json {
		return a.writeJSON(listObject{"schema": 1, kind: l.Objects()})
	}
	view.Table(a.io.Out, l.Header, l.Cells(), a.page())
	return nil
}

// notListed returns the usage error for a word that is neither a kind for list nor a selector with a match.
func notListed(err error, word string) error {
	var unmatched *exit.Error
	if !errors.As(err, &unmatched) || unmatched.Class != exit.NoMatch || strings.ContainsAny(word, "=/:*") {
		return err
	}
	return exit.With(exit.Usage, fmt.Errorf("list %s: want one of %s, or a selector that matches something", word, strings.Join(listKinds(), ", ")))
}
