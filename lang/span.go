package lang

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Span is a range of bytes in a file, from Start up to, but not including, End.
type Span struct {
	File       string // absolute path
	Start, End int
}

// covers reports whether a position, or a cursor behind the last byte, is in the span.
func (s Span) covers(file string, at int) bool {
	return s.File == file && s.Start <= at && at <= s.End
}

// use is a span that names a declaration.
type use struct {
	to   *decl
	span Span // of the name alone, without dots and quotes
}

// use notes that step i of a reference in src names a declaration.
func (l *loader) use(src *source, to *decl, t hcl.Traversal, i int) {
	if span, ok := stepSpan(src, t, i); ok {
		l.uses = append(l.uses, use{to, span})
	}
}

// stepSpan returns the span of the name at step i of a traversal.
func stepSpan(src *source, t hcl.Traversal, i int) (Span, bool) {
	name, rng := stepName(t, i)
	span := spanOf(src, rng)
	if name == "" || span.Start < 0 || span.End > len(src.bytes) || span.Start > span.End {
		return Span{}, false
	}
	text := src.bytes[span.Start:span.End] // .name or ["name"]
	at := bytes.Index(text, []byte(name))
	if at < 0 { // written with an escape
		return Span{}, false
	}
	span.Start += at
	span.End = span.Start + len(name)
	return span, true
}

func spanOf(src *source, r hcl.Range) Span {
	return Span{File: src.path, Start: r.Start.Byte, End: r.End.Byte}
}

// nameSpan returns the span of a declaration's name; the zero Span of an implicit declaration.
func (d *decl) nameSpan() Span {
	switch {
	case d.attr != nil:
		return spanOf(d.src, d.attr.NameRange)
	case d.block == nil:
		return Span{}
	case len(d.block.LabelRanges) == 0:
		return spanOf(d.src, d.block.TypeRange)
	}
	span := spanOf(d.src, d.block.LabelRanges[len(d.block.LabelRanges)-1])
	if text := d.src.bytes[span.Start:span.End]; len(text) > 1 && text[0] == '"' {
		span.Start, span.End = span.Start+1, span.End-1
	}
	return span
}

// span returns the span of a whole declaration.
func (d *decl) span() Span {
	switch {
	case d.attr != nil:
		return spanOf(d.src, d.attr.SrcRange)
	case d.block == nil:
		return Span{}
	}
	return spanOf(d.src, wholeBlock(d.block))
}

// wholeBlock returns a block's range up to its closing brace, which an incomplete block lacks.
func wholeBlock(b *hclsyntax.Block) hcl.Range {
	whole := b.DefRange()
	if b.CloseBraceRange.End.Byte > whole.End.Byte {
		whole.End = b.CloseBraceRange.End
	}
	return whole
}
