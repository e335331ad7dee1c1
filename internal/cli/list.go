package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
	"github.com/fevalgraph/fevalgraph/view"
)

// coverageKind is what list takes for what is there of what is expected.
const coverageKind = "coverage"

func listKinds() []string { return append(slices.Clone(describe.Lists), coverageKind) }

func (a *app) listCommand() *cobra.Command {
	var pairs string
	cmd := command("list [THING]", "List what the configuration describes",
		`List prints one kind of THING; without an argument, the cells. There are
`+strings.Replace(strings.Join(listKinds(), ", "), "cells, ", "cells,\n", 1)+`.

Coverage is, for each problem, how many of the expected solutions are present,
missing, failed, or empty files. Expected are the solutions of the configuration
or, with --pairs, those of the file.`,
		`  fevalgraph list problems
  fevalgraph list nodes --json
  fevalgraph list coverage --pairs nightly.txt`,
		func(cmd *cobra.Command, args []string) error {
			kind := "cells"
			if len(args) == 1 {
				kind = args[0]
			}
			return a.runList(cmd.Context(), kind, pairs)
		})
	addPairs(cmd, &pairs, "with coverage: the expected solutions are those that a `FILE` of pairs names")
	cmd.Args = arguments(0, 1, "what to list")
	cmd.ValidArgs = listKinds()
	return cmd
}

func (a *app) runList(ctx context.Context, kind, pairs string) error {
	switch {
	case pairs != "" && kind != coverageKind:
		return exit.With(exit.Usage, fmt.Errorf("--pairs is for list %s", coverageKind))
	case !slices.Contains(listKinds(), kind):
		return exit.With(exit.Usage, fmt.Errorf("list %s: want one of %s", kind, strings.Join(listKinds(), ", ")))
	}
	p, err := eval.Open(ctx, a.options(), eval.Reading)
	if err != nil {
		return err
	}
	defer p.Close()
	if kind == coverageKind {
		return a.listCoverage(p, pairs)
	}
	l := describe.List(p, kind)
	if a.flags.json {
		return a.writeJSON(map[string]any{"schema": 1, kind: l.Objects()})
	}
	view.Table(a.io.Out, l.Header, l.Cells(), a.page())
	return nil
}
