package lsp

import (
	"context"

	"github.com/fevalgraph/fevalgraph/lang"
)

// place is the position of a request in a file of a project.
type place struct {
	*document
	of  *project
	now *snapshot
	at  int // byte
}

// find returns the place of a request, or nil if the document is not open, is not a file, or ctx has ended
// meanwhile. Its project is locked until release is called.
func (s *server) find(ctx context.Context, now *snapshot, uri string, p Position) (found *place, release func()) {
	d := now.open[uri]
	if d == nil || d.path == "" {
		return nil, func() {}
	}
	of := s.projectOf(d.path)
	if of == nil {
		return nil, func() {}
	}
	of.mu.Lock()
	if ctx.Err() != nil { // the request was cancelled; begin reports it
		return nil, of.mu.Unlock
	}
	return &place{document: d, of: of, now: now, at: d.offset(p)}, of.mu.Unlock
}

// location converts a span for the client.
func (p *place) location(s lang.Span) location {
	d := p.now.file(s.File)
	return location{URI: d.uri, Range: d.between(s.Start, s.End)}
}

// definition returns the location of the declaration that is named at a position, or of the file that a path
// names.
func (s *server) definition(ctx context.Context, now *snapshot, p positionParams) (any, error) {
	in, release := s.find(ctx, now, p.TextDocument.URI, p.Position)
	defer release()
	if in == nil {
		return nil, nil
	}
	symbol, _, ok := in.of.analysis(now).Named(in.path, in.at)
	if ok && symbol.NameSpan != (lang.Span{}) {
		return in.location(symbol.NameSpan), nil
	}
	if file := in.writtenPath(); file != "" {
		return location{URI: now.file(file).uri}, nil
	}
	return nil, nil
}
