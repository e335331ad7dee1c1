package lsp

import "context"

type codeActions struct {
	TextDocument textDocument `json:"textDocument"`
	Range        Range        `json:"range"`
}

type codeAction struct {
	Title       string        `json:"title"`
	Kind        string        `json:"kind"`
	Diagnostics []diagnostic  `json:"diagnostics"`
	IsPreferred bool          `json:"isPreferred"`
	Edit        workspaceEdit `json:"edit"`
}

// codeActions returns the edits that fix findings in a range, as far as hints suggest any.
func (s *server) codeActions(ctx context.Context, now *snapshot, p codeActions) (any, error) {
	actions := []codeAction{}
	d, release := s.find(ctx, now, p.TextDocument.URI, p.Range.Start)
	defer release()
	if d == nil {
		return actions, nil
	}
	of := d.of
	of.analysis(now)
	from, to := d.at, d.offset(p.Range.End)
	for _, f := range of.findings {
		if f.Fix == nil || of.fileOf(f.Range) != d.path || f.Range.End.Byte < from || f.Range.Start.Byte > to {
			continue
		}
		in := now.file(of.fileOf(&f.Fix.Range))
		actions = append(actions, codeAction{
			Title: "Change to " + f.Fix.Text, Kind: "quickfix", Diagnostics: []diagnostic{d.diagnostic(f)}, IsPreferred: true,
			Edit: workspaceEdit{Changes: map[string][]textEdit{in.uri: {{Range: in.rangeOf(f.Fix.Range), NewText: f.Fix.Text}}}},
		})
	}
	return actions, nil
}
