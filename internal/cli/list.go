package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/view"
)

// listing is one kind of thing that list shows.
type listing struct {
	header []string
	rows   func(p *eval.Project) [][]any
	noted  bool // the last column is there only when something stands in it
}

var listings = map[string]listing{
	"problems": {[]string{"problem", "title", "checkpoints", "tags", "invalid"}, func(p *eval.Project) [][]any {
		var rows [][]any
		for _, x := range p.Config.Problems {
			rows = append(rows, []any{x.Name, x.Title, len(x.Checkpoints), strings.Join(x.Tags, ", "), x.Invalid.Error()})
		}
		return rows
	}, true},
	"solutions": {[]string{"solution", "problem", "checkpoints", "labels"}, func(p *eval.Project) [][]any {
		var rows [][]any
		for _, x := range p.Config.Solutions {
			present := 0
			for _, c := range x.Checkpoints {
				if !c.Missing {
					present++
				}
			}
			var labels []string
			for _, l := range x.Labels {
				labels = append(labels, l.Name+"="+l.Value)
			}
			rows = append(rows, []any{x.Name, x.Problem.Name, fmt.Sprintf("%d of %d", present, len(x.Checkpoints)), strings.Join(labels, ", ")})
		}
		return rows
	}, false},
	"backends": {[]string{"backend", "pool", "setup"}, func(p *eval.Project) [][]any {
		var rows [][]any
		for _, x := range p.Config.Backends {
			rows = append(rows, []any{x.Addr(), x.Pool, strings.Join(x.Setup, "; ")})
		}
		return rows
	}, false},
	"suites": {[]string{"suite", "cells", "excluded", "description"}, func(p *eval.Project) [][]any {
		var rows [][]any
		for _, x := range p.Config.Suites {
			rows = append(rows, []any{x.Name, len(x.Cells), len(x.Excluded), x.Description})
		}
		return rows
	}, false},
	"tasks": {[]string{"task", "backend", "inputs", "outputs", "description"}, func(p *eval.Project) [][]any {
		var rows [][]any
		for _, x := range p.Config.Tasks {
			var outputs []string
			for _, o := range x.Outputs {
				outputs = append(outputs, o.Name)
			}
			rows = append(rows, []any{x.Name, x.Backend.Addr(), len(x.Inputs), strings.Join(outputs, ", "), x.Description})
		}
		return rows
	}, false},
	"generators": {[]string{"generator", "model", "problems", "attempts", "directory"}, func(p *eval.Project) [][]any {
		var rows [][]any
		for _, x := range p.Config.Generators {
			var problems []string
			for _, solved := range x.Problems {
				problems = append(problems, solved.Name)
			}
			dir := x.Directory
			if rel, err := filepath.Rel(p.Config.Root, dir); err == nil {
				dir = filepath.ToSlash(rel)
			}
			rows = append(rows, []any{x.Name, x.ModelLabel(), strings.Join(problems, ", "), x.Attempts, dir})
		}
		return rows
	}, false},
	"cells": {[]string{"problem", "solution", "backend", "repeat", "checkpoints", "suites"}, func(p *eval.Project) [][]any {
		var rows [][]any
		for _, x := range p.Plan.Cells {
			rows = append(rows, []any{x.Problem.Name, x.Solution.Name, x.Backend.Addr(), x.Repeat,
				len(x.Checkpoints), strings.Join(x.Suites, ", ")})
		}
		return rows
	}, false},
	"nodes": {[]string{"address", "kind"}, func(p *eval.Project) [][]any {
		var rows [][]any
		for id := range graph.ID(p.Plan.Graph.Len()) {
			n := p.Plan.Graph.Node(id)
			rows = append(rows, []any{n.Addr, n.Kind})
		}
		return rows
	}, false},
}

var listKinds = []string{"problems", "solutions", "backends", "suites", "tasks", "generators", "cells", "nodes", coverageKind}

// coverageKind is what list takes for what is there of what is expected.
const coverageKind = "coverage"

func (a *app) listCommand() *cobra.Command {
	var pairs string
	cmd := command("list [THING]", "List what the configuration describes",
		`List prints one kind of THING; without an argument, the cells. There are
`+strings.Replace(strings.Join(listKinds, ", "), "cells, ", "cells,\n", 1)+`.

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
	cmd.ValidArgs = listKinds
	return cmd
}

func (a *app) runList(ctx context.Context, kind, pairs string) error {
	l, ok := listings[kind]
	switch {
	case pairs != "" && kind != coverageKind:
		return exit.With(exit.Usage, fmt.Errorf("--pairs is for list %s", coverageKind))
	case !ok && kind != coverageKind:
		return exit.With(exit.Usage, fmt.Errorf("list %s: want one of %s", kind, strings.Join(listKinds, ", ")))
	}
	p, err := eval.Open(ctx, a.options(), eval.Reading)
	if err != nil {
		return err
	}
	defer p.Close()
	if kind == coverageKind {
		return a.listCoverage(p, pairs)
	}
	rows := l.rows(p)
	if last := len(l.header) - 1; l.noted && !slices.ContainsFunc(rows, func(row []any) bool { return row[last] != "" }) {
		l.header = l.header[:last]
		for i := range rows {
			rows[i] = rows[i][:last]
		}
	}
	if a.flags.json {
		return a.writeJSON(map[string]any{"schema": 1, kind: l.objects(rows)})
	}
	view.Table(a.io.Out, l.header, texts(rows), a.color())
	return nil
}

// objects are the rows as JSON has them, by the names in the header.
func (l listing) objects(rows [][]any) []map[string]any {
	objects := []map[string]any{}
	for _, row := range rows {
		object := map[string]any{}
		for i, name := range l.header {
			object[name] = row[i]
		}
		objects = append(objects, object)
	}
	return objects
}

func texts(rows [][]any) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			out[i] = append(out[i], fmt.Sprint(cell))
		}
	}
	return out
}
