package lsp

import (
	"context"

	"github.com/sourcegraph/jsonrpc2"
)

func (s *server) prepareRename(ctx context.Context, now *snapshot, p positionParams) (any, error) {
	in, release := s.find(ctx, now, p.TextDocument.URI, p.Position)
	defer release()
	if in == nil {
		return nil, nil
	}
	symbol, name, ok := in.of.analysis(now).Named(in.path, in.at)
	if !ok || symbol.NameSpan.File == "" {
		return nil, nil
	}
	return map[string]any{"range": in.between(name.Start, name.End), "placeholder": symbol.Name}, nil
}

// rename changes the declaration of a name and all references to it, or returns an error if
// any of them cannot be changed.
func (s *server) rename(ctx context.Context, now *snapshot, p struct {
	positionParams
	NewName string `json:"newName"`
}) (any, error) {
	in, release := s.find(ctx, now, p.TextDocument.URI, p.Position)
	defer release()
	if in == nil {
		return nil, nil
	}
	a := in.of.analysis(now)
	if refused := a.Rename(in.path, in.at, p.NewName); refused != nil {
		return nil, &jsonrpc2.Error{Code: codeFailed, Message: refused.Detail}
	}
	edit := workspaceEdit{Changes: map[string][]textEdit{}}
	for _, span := range a.References(in.path, in.at) {
		where := in.location(span)
		edit.Changes[where.URI] = append(edit.Changes[where.URI], textEdit{Range: where.Range, NewText: p.NewName})
	}
	return edit, nil
}
