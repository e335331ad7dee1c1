package lsp

import (
	"bytes"
	"context"

	"github.com/fevalgraph/fevalgraph/lang"
)

type foldingRange struct {
	StartLine int    `json:"startLine"`
	EndLine   int    `json:"endLine"`
	Kind      string `json:"kind,omitempty"`
}

func (s *server) foldingRanges(_ context.Context, now *snapshot, p ofDocument) (any, error) {
	folds := []foldingRange{}
	d := now.open[p.TextDocument.URI]
	if d == nil {
		return folds, nil
	}
	for _, f := range lang.Folds(d.text) {
		fold := foldingRange{StartLine: d.position(f.Start).Line, EndLine: d.position(f.End).Line}
		if f.Comment {
			fold.Kind = "comment"
		} else {
			fold.EndLine-- // the closing bracket stays
		}
		if fold.EndLine > fold.StartLine {
			folds = append(folds, fold)
		}
	}
	return folds, nil
}

// format formats a text like `fmt`, as an edit of the lines that differ. It leaves a text with syntax errors
// unchanged.
func (s *server) format(_ context.Context, now *snapshot, p ofDocument) (any, error) {
	edits := []textEdit{}
	d := now.open[p.TextDocument.URI]
	if d == nil {
		return edits, nil
	}
	want, findings := lang.Format(d.path, d.text)
	if findings.HasErrors() || bytes.Equal(want, d.text) {
		return edits, nil
	}
	before, after := bytes.SplitAfter(d.text, []byte("\n")), bytes.SplitAfter(want, []byte("\n"))
	start, end := 0, len(d.text)
	for len(before) > 0 && len(after) > 0 && bytes.Equal(before[0], after[0]) {
		start += len(before[0])
		before, after = before[1:], after[1:]
	}
	for len(before) > 0 && len(after) > 0 && bytes.Equal(before[len(before)-1], after[len(after)-1]) {
		end -= len(before[len(before)-1])
		before, after = before[:len(before)-1], after[:len(after)-1]
	}
	return append(edits, textEdit{Range: d.between(start, end), NewText: string(bytes.Join(after, nil))}), nil
}
