package lsp

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// made holds the objects that a file's blocks declare, by their first lines, from 1.
type made struct {
	instances map[int]int
	suites    map[int]int // cells
	judged    map[int]bool
}

// made loads the configuration of an example, as a run does; an invalid one, such as one without its checkout, gives
// nil.
func (c *client) made(uri string) made {
	c.t.Helper()
	o := projectOptions(c.t)
	o.Dir = filepath.Dir(pathOf(uri))
	cfg, found := lang.Load(o.Lang())
	m := made{map[int]int{}, map[int]int{}, map[int]bool{}}
	if found.HasErrors() {
		return m
	}
	here := func(r diag.Range) bool { return r.File == filepath.Base(pathOf(uri)) }
	for _, p := range cfg.Problems {
		if here(p.Range) {
			m.instances[p.Range.Start.Line]++
		}
	}
	for _, s := range cfg.Solutions {
		if here(s.Range) {
			m.instances[s.Range.Start.Line]++
		}
	}
	for _, t := range cfg.Tasks {
		if here(t.Range) {
			m.instances[t.Range.Start.Line]++
		}
	}
	for _, s := range cfg.Suites {
		if !s.Implicit && here(s.Range) {
			m.suites[s.Range.Start.Line] = len(s.Cells)
			m.judged[s.Range.Start.Line] = len(s.Cells) > 0
		}
	}
	plan.EachCell(cfg, func(cell lang.Cell) {
		for _, r := range []diag.Range{cell.Solution.Range, cell.Solution.Problem.Range} {
			if here(r) {
				m.judged[r.Start.Line] = true
			}
		}
	})
	return m
}

// checkHints looks whether the cells of each suite and the instances of each for_each are shown
// behind their headers, and lenses above all that has cells.
func (c *client) checkHints(t *testing.T, uri string) {
	t.Helper()
	of, m := map[string]any{"uri": uri}, c.made(uri)
	var hints []inlayHint
	c.call("textDocument/inlayHint", map[string]any{"textDocument": of, "range": Range{End: Position{Line: 1 << 20}}}, &hints)
	shown := func(line int, label string) {
		t.Helper()
		if !slices.ContainsFunc(hints, func(h inlayHint) bool { return h.Position.Line == line-1 && strings.HasPrefix(h.Label, label) }) {
			t.Errorf("%q is not shown in line %d: %+v", label, line, hints)
		}
	}
	for line, cells := range m.suites {
		shown(line, text.Count(cells, "cell"))
	}
	each := 0
	for line, n := range m.instances {
		if n > 1 {
			each++
			shown(line, text.Count(n, "instance")+": ")
		}
	}
	if len(hints) < len(m.suites)+each {
		t.Errorf("%d hints for %d suites and %d blocks with instances", len(hints), len(m.suites), each)
	}
	var lenses []codeLens
	c.call("textDocument/codeLens", map[string]any{"textDocument": of}, &lenses)
	for line, judged := range m.judged {
		at := func(l codeLens) bool { return l.Range.Start.Line == line-1 && l.Command.Title == "never judged" }
		if judged != slices.ContainsFunc(lenses, at) {
			t.Errorf("line %d has cells: %t; lenses are %+v", line, judged, lenses)
		}
	}
}

// checkReferences checks that each reference of an example finds itself, and that its target is a symbol of the
// workspace.
func (c *client) checkReferences(t *testing.T, uri string) {
	t.Helper()
	right := c.texts[uri]
	d := newDocument(uri, 0, []byte(right))
	for _, m := range reference.FindAllStringSubmatchIndex(right, -1) {
		var to location
		if c.call("textDocument/definition", c.at(uri, d.position(m[1]-1)), &to); to.URI == "" || c.inComment(d, m[0]) {
			continue
		}
		ask := c.at(uri, d.position(m[1]-1))
		ask["context"] = map[string]any{"includeDeclaration": true}
		var all []location
		c.call("textDocument/references", ask, &all)
		name := right[max(m[4], m[8]):m[1]]
		itself := location{URI: uri, Range: d.between(m[1]-len(name), m[1])}
		if !slices.Contains(all, itself) || !slices.Contains(all, to) {
			t.Errorf("references of %s lack itself or its declaration: %+v", right[m[0]:m[1]], all)
		}
		var symbols []workspaceSymbol
		c.call("workspace/symbol", map[string]any{"query": name}, &symbols)
		if !slices.ContainsFunc(symbols, func(s workspaceSymbol) bool { return s.Location == to }) {
			t.Errorf("%s is not a symbol of the workspace: %+v", name, symbols)
		}
	}
}
