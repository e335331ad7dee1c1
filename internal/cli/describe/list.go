package describe

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Rows are values below a header.
type Rows struct {
	Header []string
	Values [][]any
}

// listing describes how to list one kind of object of a project.
type listing struct {
	header []string
	rows   func(p *plan.Plan) [][]any
	noted  bool // the last column is omitted if empty
}

var listings = map[string]listing{
	"problems": {[]string{"problem", "title", "checkpoints", "tags", "invalid"}, func(p *plan.Plan) [][]any {
		var rows [][]any
		for _, x := range p.Config.Problems {
			rows = append(rows, []any{x.Name, x.Title, len(x.Checkpoints), strings.Join(x.Tags, ", "), x.Invalid.Error()})
		}
		return rows
	}, true},
	"solutions": {[]string{"solution", "problem", "checkpoints", "labels"}, func(p *plan.Plan) [][]any {
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
	"backends": {[]string{"backend", "pool", "setup"}, func(p *plan.Plan) [][]any {
		var rows [][]any
		for _, x := range p.Config.Backends {
			rows = append(rows, []any{x.Addr(), x.Pool, strings.Join(x.Setup, "; ")})
		}
		return rows
	}, false},
	"suites": {[]string{"suite", "cells", "excluded", "description"}, func(p *plan.Plan) [][]any {
		var rows [][]any
		for _, x := range p.Config.Suites {
			rows = append(rows, []any{x.Name, len(x.Cells), len(x.Excluded), x.Description})
		}
		return rows
	}, false},
	"tasks": {[]string{"task", "backend", "inputs", "outputs", "description"}, func(p *plan.Plan) [][]any {
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
	"generators": {[]string{"generator", "model", "problems", "attempts", "directory"}, func(p *plan.Plan) [][]any {
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
	"cells": {[]string{"problem", "solution", "backend", "repeat", "checkpoints", "suites"}, func(p *plan.Plan) [][]any {
		var rows [][]any
		for _, x := range p.Cells {
			rows = append(rows, []any{x.Problem.Name, x.Solution.Name, x.Backend.Addr(), x.Repeat,
				len(x.Checkpoints), strings.Join(x.Suites, ", ")})
		}
		return rows
	}, false},
	"nodes": {[]string{"address", "kind"}, func(p *plan.Plan) [][]any {
		var rows [][]any
		for id := range graph.ID(p.Graph.Len()) {
			n := p.Graph.Node(id)
			rows = append(rows, []any{n.Addr, n.Kind})
		}
		return rows
	}, false},
}

// Lists contains the kinds for List.
var Lists = []string{"problems", "solutions", "backends", "suites", "tasks", "generators", "cells", "nodes"}

// List returns all objects of a kind, one of Lists, in a plan.
func List(p *plan.Plan, kind string) Rows {
	l := listings[kind]
	rows := l.rows(p)
	if last := len(l.header) - 1; l.noted && !slices.ContainsFunc(rows, func(row []any) bool { return row[last] != "" }) {
		l.header = l.header[:last]
		for i := range rows {
			rows[i] = rows[i][:last]
		}
	}
	return Rows{Header: l.header, Values: rows}
}

// Selectable contains the kinds that selectors can select.
var Selectable = []string{"problems", "solutions", "tasks", "cells", "nodes"}

// Picked returns the rows of a kind that the given nodes belong to.
func (r Rows) Picked(p *plan.Plan, kind string, ids []graph.ID) Rows {
	columns := map[string]int{"problems": 1, "solutions": 2, "tasks": 1, "cells": 4, "nodes": 1}[kind]
	picked := map[string]bool{}
	for _, id := range ids {
		n := p.Graph.Node(id)
		problem, solution := n.Label("problem"), n.Label("solution")
		picked[map[string]string{
			"problems": name(problem), "solutions": name(solution, problem), "tasks": name(n.Label("task")),
			"cells": name(problem, solution, n.Label("backend"), n.Label("repeat")), "nodes": name(n.Addr),
		}[kind]] = true
	}
	kept := Rows{Header: r.Header}
	for _, row := range r.Values {
		if picked[name(row[:columns]...)] {
			kept.Values = append(kept.Values, row)
		}
	}
	return kept
}

// name joins the first columns of a row to a unique text.
func name(columns ...any) string {
	text := ""
	for _, c := range columns {
		text += fmt.Sprintf("%q ", fmt.Sprint(c))
	}
	return text
}

// Objects returns the rows as JSON objects, with the names in the header as keys.
func (r Rows) Objects() []map[string]any {
	objects := []map[string]any{}
	for _, row := range r.Values {
		object := map[string]any{}
		for i, name := range r.Header {
			object[name] = row[i]
		}
		objects = append(objects, object)
	}
	return objects
}

// Cells returns the rows as text for tables.
func (r Rows) Cells() [][]string {
	out := make([][]string, len(r.Values))
	for i, row := range r.Values {
		for _, cell := range row {
			out[i] = append(out[i], fmt.Sprint(cell))
		}
	}
	return out
}
