package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/internal/cli/describe"
)

func (a *app) queryCommand() *cobra.Command {
	var cells, files bool
	cmd := command("query [SELECTOR...]", "List the nodes, cells or files that selectors match",
		`Query prints the addresses of the nodes that the selectors match, one a line:
what depends on a file, what a cell needs, what is stale. With --cells it prints
the cells that the nodes belong to, and with --files the files that the nodes
read. It evaluates nothing.

Besides names and axes, selectors have deps(X), the dependencies of X; rdeps(X),
its dependents; path(A, B), the nodes between A and B; file:PATH, the nodes that
read a file or a file in a directory; and not X.`,
		`  fevalgraph query 'rdeps(file:tests/test_b.py)'
  fevalgraph query 'deps(kvstore/reference)' --files
  fevalgraph query 'state=stale,not problem=kvstore' --cells
  fevalgraph query 'path(file:data/words.txt, kvstore/reference)'`,
		func(cmd *cobra.Command, args []string) error {
			found, err := eval.Query(cmd.Context(), a.options(), args, files)
			if err != nil {
				return err
			}
			if a.flags.json {
				return a.writeJSON(queryAnswer(found, cells, files))
			}
			for _, line := range describe.Found(found, cells, files) {
				fmt.Fprintln(a.io.Out, line)
			}
			return nil
		})
	cmd.Args = cobra.ArbitraryArgs
	cmd.Flags().BoolVar(&cells, "cells", false, "print the cells of the nodes")
	cmd.Flags().BoolVar(&files, "files", false, "print the files that the nodes read")
	cmd.MarkFlagsMutuallyExclusive("cells", "files")
	return cmd
}

func queryAnswer(f *eval.Found, cells, files bool) any {
	switch {
	case files:
		return foundFiles{1, f.Files}
	case cells:
		answer := foundCells{1, []foundCell{}}
		for _, c := range f.Cells {
			answer.Cells = append(answer.Cells, foundCell{c.Problem, c.Solution, c.Backend, c.Repeat})
		}
		return answer
	}
	return foundNodes{1, f.Nodes}
}
