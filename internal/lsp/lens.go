package lsp

import (
	"context"
	"fmt"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/verdict"
)

type codeLens struct {
	Range   Range   `json:"range"`
	Command command `json:"command"`
}

// target contains the arguments of the commands of lenses. The client runs them in a terminal, as
// `fevalgraph -C directory run selector...`.
type target struct {
	Directory string   `json:"directory"`
	File      string   `json:"file,omitempty"` // replaces fevalgraph.hcl
	Arguments []string `json:"arguments"`
}

// codeLenses shows above problems, solutions and suites their last verdicts and whether these are up to
// date, with commands that run or explain them. It ignores unsaved edits.
func (s *server) codeLenses(ctx context.Context, now *snapshot, p ofDocument) (any, error) {
	lenses := []codeLens{}
	in, groups := s.groups(ctx, now, p.TextDocument.URI)
	if len(groups) == 0 {
		return lenses, nil
	}
	all, err := in.of.lastVerdicts(ctx, false)
	if err != nil { // diagnostics show why
		return lenses, ctx.Err()
	}
	cells := byCell(all)
	for _, g := range groups {
		var of []*eval.CheckpointStatus
		for _, id := range g.cells {
			of = append(of, cells[id]...)
		}
		lenses = append(lenses, in.lensesOf(g, of)...)
	}
	return lenses, nil
}

// groups returns the blocks of a file that have cells. The project is unlocked while verdicts are read.
func (s *server) groups(ctx context.Context, now *snapshot, uri string) (in *place, groups []*group) {
	in, release := s.find(ctx, now, uri, Position{})
	defer release()
	if in == nil {
		return nil, nil
	}
	a := in.of.analysis(now)
	for _, g := range groupsOf(a.Config()) {
		if a.Whole() && a.Path(g.at.File) == in.path {
			groups = append(groups, g)
		}
	}
	return in, groups
}

// group is a block and the cells that it is part of.
type group struct {
	at        diag.Range
	selectors []string
	cells     []plan.CellID
}

// groupsOf returns the blocks of a configuration that have cells.
func groupsOf(cfg *lang.Config) []*group {
	var groups []*group
	problems, solutions := map[*lang.Problem]*group{}, map[*lang.Solution]*group{}
	for _, b := range blocks(cfg) {
		g := &group{at: b.at}
		for _, p := range b.problems {
			problems[p] = g
			g.selectors = append(g.selectors, "problem="+p.Name)
		}
		for _, s := range b.solutions {
			solutions[s] = g
			g.selectors = append(g.selectors, fmt.Sprintf("problem=%s,solution=%s", s.Problem.Name, s.Name))
		}
		if b.kind != "task" {
			groups = append(groups, g)
		}
	}
	plan.EachCell(cfg, func(c lang.Cell) {
		id := plan.IDOf(c)
		for _, g := range []*group{problems[c.Solution.Problem], solutions[c.Solution]} {
			if g != nil {
				g.cells = append(g.cells, id)
			}
		}
	})
	for _, s := range cfg.Suites {
		if s.Implicit {
			continue
		}
		g := &group{at: s.Range, selectors: []string{"suite=" + s.Name}}
		for _, c := range s.Cells {
			g.cells = append(g.cells, plan.IDOf(c))
		}
		groups = append(groups, g)
	}
	return groups
}

// maxSelectors bounds the instances of a block that a command names; the lens of a block with more shows
// only verdicts.
const maxSelectors = 200

func (p *place) lensesOf(g *group, of []*eval.CheckpointStatus) []codeLens {
	if len(g.cells) == 0 {
		return nil
	}
	line := p.position(g.at.Start.Byte).Line
	lens := func(title, name string, arguments ...string) codeLens {
		l := codeLens{Range: Range{Start: Position{Line: line}, End: Position{Line: line}}, Command: command{Title: title, Command: name}}
		if name != "" {
			l.Command.Arguments = []any{target{Directory: p.of.options.Dir, File: p.of.options.File, Arguments: arguments}}
		}
		return l
	}
	said, node := "never judged", ""
	if len(of) > 0 {
		said, node = summary(of)
	}
	lenses := []codeLens{lens(said, "")}
	if len(g.selectors) <= maxSelectors {
		lenses = append(lenses, lens("run", "fevalgraph.run", g.selectors...))
	}
	if len(of) == 0 {
		return lenses
	}
	if node == "" { // why the first holds
		at := of[0].Cell.GradedAt()
		node = at[1]
		if of[0].Cell.Checkpoint == "" {
			node = at[0]
		}
	}
	return append(lenses, lens("explain", "fevalgraph.explain", node))
}

// summary counts the good verdicts and reports whether all are up to date. node is the first node that is
// not, or "".
func summary(of []*eval.CheckpointStatus) (said, node string) {
	passed, ruled, scored, never, score := 0, 0, 0, 0, 0.0
	var failing []*eval.CheckpointStatus
	for _, one := range of {
		switch {
		case one.Last == nil || one.Last.Class == verdict.NotRun:
			never++
		case one.Last.Ruled():
			ruled++
			if one.Last.Passed {
				passed++
			}
		}
		if one.Last != nil && one.Last.Score != nil {
			scored++
			score += *one.Last.Score
		}
		if one.State == eval.Fresh {
			continue
		}
		if node == "" {
			node = one.Node
		}
		if one.Last != nil || one.State != "new" { // a new checkpoint's "never judged" includes it
			failing = append(failing, one)
		}
	}
	var parts []string
	if ruled > 0 {
		parts = append(parts, fmt.Sprintf("%d/%d yes", passed, ruled))
	}
	if scored > 0 {
		parts = append(parts, fmt.Sprintf("score %.4g", score/float64(scored)))
	}
	if never > 0 {
		parts = append(parts, fmt.Sprintf("%d never judged", never))
	}
	if len(failing) == 0 {
		if never == 0 {
			parts = append(parts, "up to date")
		}
		return strings.Join(parts, ", "), node
	}
	first := failing[0]
	cause := fmt.Sprintf("%s: %s", first.State, text.Line(text.FirstLine(first.Cause), 80))
	if len(failing) > 1 {
		cause += fmt.Sprintf(" and %d more", len(failing)-1)
	}
	return strings.Join(append(parts, cause), ", "), node
}
