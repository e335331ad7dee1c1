package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

type inlayHint struct {
	Position    Position `json:"position"`
	Label       string   `json:"label"`
	PaddingLeft bool     `json:"paddingLeft"`
}

// inlayHints shows, behind their headers, how many cells suites have and how many instances for_each creates
// of blocks.
func (s *server) inlayHints(ctx context.Context, now *snapshot, p struct {
	TextDocument textDocument `json:"textDocument"`
	Range        Range        `json:"range"`
}) (any, error) {
	in, release := s.find(ctx, now, p.TextDocument.URI, p.Range.Start)
	defer release()
	hints := []inlayHint{}
	if in == nil {
		return hints, nil
	}
	end := in.offset(p.Range.End)
	a := in.of.analysis(now)
	cfg := a.Config()
	add := func(at diag.Range, label string) {
		if a.Path(at.File) == in.path && at.End.Byte >= in.at && at.End.Byte <= end {
			hints = append(hints, inlayHint{Position: in.position(at.End.Byte), Label: label, PaddingLeft: true})
		}
	}
	for _, suite := range cfg.Suites {
		if !suite.Implicit {
			add(suite.Range, text.Count(len(suite.Cells), "cell"))
		}
	}
	for _, b := range blocks(cfg) {
		if !slices.Equal(b.refs, []string{b.base}) {
			add(b.at, fmt.Sprintf("%s: %s", text.Count(len(b.refs), "instance"), text.Line(text.Some(b.keys(), 3), 60)))
		}
	}
	return hints, nil
}

// writtenBlock is a block of the text with its instances: several with for_each.
type writtenBlock struct {
	kind, base string // "problem", "problem.tally"
	at         diag.Range
	refs       []string
	problems   []*lang.Problem
	solutions  []*lang.Solution
}

// keys returns the keys of for_each.
func (w *writtenBlock) keys() []string {
	keys := make([]string, len(w.refs))
	for i, ref := range w.refs {
		_, key, _ := strings.Cut(ref, `["`)
		keys[i] = strings.TrimSuffix(key, `"]`)
	}
	return keys
}

// blocks returns the blocks of problems, solutions and tasks in a configuration that have instances.
func blocks(cfg *lang.Config) []*writtenBlock {
	var all []*writtenBlock
	last := func(kind, ref string, at diag.Range) *writtenBlock {
		if n := len(all); n == 0 || all[n-1].at != at || all[n-1].kind != kind {
			all = append(all, &writtenBlock{kind: kind, base: baseOf(ref), at: at})
		}
		w := all[len(all)-1]
		w.refs = append(w.refs, ref)
		return w
	}
	for _, p := range cfg.Problems {
		w := last("problem", p.Ref, p.Range)
		w.problems = append(w.problems, p)
	}
	for _, s := range cfg.Solutions {
		w := last("solution", s.Ref, s.Range)
		w.solutions = append(w.solutions, s)
	}
	for _, t := range cfg.Tasks {
		last("task", t.Ref, t.Range)
	}
	return all
}

// baseOf returns the reference to the block of an instance.
func baseOf(ref string) string {
	base, _, _ := strings.Cut(ref, "[")
	return base
}
