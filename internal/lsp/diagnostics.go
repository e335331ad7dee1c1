package lsp

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
)

const source = "fevalgraph"

// publish sends the findings of `validate` on the texts, by file. Files that have lost their findings get an
// empty list. It repeats this when texts change meanwhile.
func (p *project) publish(now *snapshot) {
	p.mu.Lock()
	defer p.mu.Unlock()
	until := now.latest
	if p.whole == nil { // later requests can need values
		until = p.s.ctx
	}
	a, err := p.analyze(until, now)
	if err != nil {
		p.lookAtTexts()
		return
	}
	found := map[string][]diagnostic{}
	for _, path := range a.Files() {
		if d := now.file(path); now.open[d.uri] != nil { // clients can also wait for an empty list
			found[d.uri] = []diagnostic{}
		}
	}
	for _, f := range p.findings {
		d := now.file(p.fileOf(f.Range))
		found[d.uri] = append(found[d.uri], d.diagnostic(f))
	}
	if now.latest.Err() != nil {
		p.lookAtTexts()
		return
	}
	for uri := range p.published {
		if _, still := found[uri]; !still {
			found[uri] = []diagnostic{}
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(found)) {
		message := publishDiagnostics{URI: uri, Diagnostics: found[uri]}
		if d := now.open[uri]; d != nil {
			message.Version = &d.version
		}
		if p.published[uri] = true; len(found[uri]) == 0 {
			delete(p.published, uri)
		}
		p.s.publish(message)
	}
}

func (s *server) publish(p publishDiagnostics) {
	_ = s.conn.Notify(s.ctx, "textDocument/publishDiagnostics", p) // the client can be gone
}

// fileOf returns the file of a finding; without a range, the main file.
func (p *project) fileOf(r *diag.Range) string {
	if r == nil || r.File == "" || strings.HasPrefix(r.File, "--var ") {
		return p.current.Path(cmp.Or(p.options.File, lang.MainFile))
	}
	return p.current.Path(r.File)
}

func (d *document) diagnostic(f diag.Diagnostic) diagnostic {
	shown := diagnostic{Severity: severityError, Code: f.Code, Source: source, Message: f.Summary}
	if f.Severity == diag.Warning {
		shown.Severity = severityWarning
	}
	if f.Detail != "" {
		shown.Message += ": " + f.Detail
	}
	for _, v := range f.Values {
		shown.Message += "\n" + v.Expression + " is " + v.Value
	}
	if f.Hint != "" {
		shown.Message += "\n" + f.Hint
	}
	shown.Message = text.Block(shown.Message)
	if f.Range != nil {
		shown.Range = d.rangeOf(*f.Range)
	}
	return shown
}

// rangeOf converts a range of lang to a range of a document. Ranges in files of other formats than HCL have
// only lines and columns.
func (d *document) rangeOf(r diag.Range) Range {
	if r.Start.Byte == 0 && (r.Start.Line > 1 || r.Start.Column > 1) {
		return d.between(d.byteOffset(r.Start), d.byteOffset(r.End))
	}
	return d.between(r.Start.Byte, r.End.Byte)
}

// byteOffset returns the byte of a position from its line and its column in characters.
func (d *document) byteOffset(p diag.Pos) int {
	line := p.Line - 1
	if line < 0 || line >= len(d.starts) {
		return len(d.text)
	}
	at, end := d.starts[line], d.end(line)
	for column := 1; column < p.Column && at < end; column++ {
		_, size := utf8.DecodeRune(d.text[at:end])
		at += size
	}
	return at
}
