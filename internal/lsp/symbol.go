package lsp

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
)

type documentSymbol struct {
	Name           string           `json:"name"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []documentSymbol `json:"children,omitempty"`
}

// kinds are the protocol's kinds of symbols for blocks; others are objects.
var kinds = map[string]int{"fevalgraph": 2, "locals": 3, "local": 13, "variable": 13, "function": 12, "problem": 5, "solution": 5, "task": 5, "backend": 19, "suite": 18, "checkpoint": 6}

const kindObject = 19

func kindOf(block string) int {
	if kind := kinds[block]; kind != 0 {
		return kind
	}
	return kindObject
}

func (s *server) documentSymbols(_ context.Context, now *snapshot, p ofDocument) (any, error) {
	d := now.open[p.TextDocument.URI]
	if d == nil {
		return []documentSymbol{}, nil
	}
	return d.symbols(lang.Outline(d.text)), nil
}

func (d *document) symbols(items []lang.Item) []documentSymbol {
	all := []documentSymbol{}
	for _, i := range items {
		all = append(all, documentSymbol{
			Name: text.Line(i.Title, 0), Kind: kindOf(i.Kind), Range: d.between(i.Start, i.End), SelectionRange: d.between(i.Name[0], i.Name[1]), Children: d.symbols(i.Items),
		})
	}
	return all
}

type workspaceSymbol struct {
	Name     string   `json:"name"`
	Kind     int      `json:"kind"`
	Location location `json:"location"`
}

// workspaceSymbols returns the declarations with a text in their titles, from every project with a file or a
// directory that the client has open.
func (s *server) workspaceSymbols(ctx context.Context, now *snapshot, p struct {
	Query string `json:"query"`
}) (any, error) {
	found := []workspaceSymbol{}
	for _, of := range s.everyProject() {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, symbol := range of.symbols(now) {
			if strings.Contains(strings.ToLower(symbol.Title), strings.ToLower(p.Query)) {
				found = append(found, workspaceSymbol{Name: text.Line(symbol.Title, 0), Kind: kindOf(symbol.Kind), Location: (&place{now: now}).location(symbol.NameSpan)})
			}
		}
	}
	return found, nil
}

func (p *project) symbols(now *snapshot) []lang.Symbol {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.analysis(now).Symbols()
}

// everyProject returns the known projects, by their directories.
func (s *server) everyProject() []*project {
	s.mu.Lock()
	folders := slices.Clone(s.folders)
	s.mu.Unlock()
	for _, dir := range folders {
		if main := filepath.Join(dir, lang.MainFile); dir != "" && readSmall(main) != nil {
			s.projectOf(main)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*project
	for _, key := range slices.Sorted(maps.Keys(s.projects)) {
		all = append(all, s.projects[key])
	}
	return all
}
