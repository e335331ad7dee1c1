package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// frame is an open construct at a position: a block, a bracket of an expression, or a text with its
// templates.
type frame struct {
	closes    hclsyntax.TokenType
	block     *Enclosing
	statement []hclsyntax.Token // of a body: tokens of the current statement
	names     *[]string         // of a body: the first names of its statements
}

// maxUnended limits the unterminated texts of a file: after each, the rest is scanned again, since it is
// not part of the text.
const maxUnended = 50

// scan consumes the tokens between two bytes. It returns the start of the line after an unterminated text,
// or -1.
func (s *scanner) scan(text []byte, from, at int) int {
	tokens, _ := hclsyntax.LexConfig(text[from:], "", hcl.Pos{Byte: from, Line: 1, Column: 1})
	for _, t := range tokens {
		if t.Range.Start.Byte >= at || t.Type == hclsyntax.TokenEOF {
			break
		}
		if t.Range.End.Byte > at { // text after the position is ignored
			t.Bytes = text[t.Range.Start.Byte:at]
			t.Range.End.Byte = at
			if t.Type != hclsyntax.TokenIdent && !isTextual(t.Type) {
				continue
			}
		}
		s.take(t)
		if t.Type == hclsyntax.TokenQuotedNewline {
			return t.Range.End.Byte
		}
	}
	return -1
}

func isTextual(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit, hclsyntax.TokenComment:
		return true
	}
	return false
}

type scanner struct {
	watch   int       // byte whose body's names are requested, or -1
	around  *[]string // the requested names
	frames  []frame
	comment bool // the last token is unfinished
}

// newScanner returns a scanner that has consumed the tokens of a text before a byte.
func newScanner(text []byte, at, watch int) *scanner {
	s := &scanner{watch: watch, frames: []frame{{names: &[]string{}}}}
	for from, again := 0, 0; from >= 0 && again < maxUnended; again++ {
		from = s.scan(text, from, at)
	}
	return s
}

func (s *scanner) top() *frame { return &s.frames[len(s.frames)-1] }

// body returns the innermost body.
func (s *scanner) body() *frame {
	for i := len(s.frames) - 1; i > 0; i-- {
		if s.frames[i].block != nil {
			return &s.frames[i]
		}
	}
	return &s.frames[0]
}

// opened maps the tokens that open a bracket or text to the tokens that close it.
var opened = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenOParen: hclsyntax.TokenCParen, hclsyntax.TokenOBrack: hclsyntax.TokenCBrack, hclsyntax.TokenOBrace: hclsyntax.TokenCBrace,
	hclsyntax.TokenOQuote: hclsyntax.TokenCQuote, hclsyntax.TokenOHeredoc: hclsyntax.TokenCHeredoc,
	hclsyntax.TokenTemplateInterp: hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
}

func (s *scanner) take(t hclsyntax.Token) {
	body, inBody := s.body(), s.top() == s.body()
	if s.watch >= 0 && s.around == nil && t.Range.Start.Byte >= s.watch {
		s.around = body.names
	}
	if len(body.statement) == 1 && body.statement[0].Type == hclsyntax.TokenIdent && inBody && t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenComment {
		*body.names = append(*body.names, string(body.statement[0].Bytes))
	}
	s.comment = t.Type == hclsyntax.TokenComment && !strings.HasSuffix(string(t.Bytes), "\n") && !strings.HasSuffix(string(t.Bytes), "*/")
	switch {
	case t.Type == hclsyntax.TokenComment && !strings.HasSuffix(string(t.Bytes), "\n"):
		return
	case t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenQuotedNewline || t.Type == hclsyntax.TokenComment: // includes the end of its line
		if s.top().closes == hclsyntax.TokenCQuote { // an unterminated text
			s.frames = s.frames[:len(s.frames)-1]
		}
		if s.top() == s.body() {
			s.body().statement = nil
		}
		return
	case t.Type == hclsyntax.TokenOBrace && inBody && !assigned(body.statement) && len(body.statement) > 0:
		s.frames = append(s.frames, frame{closes: hclsyntax.TokenCBrace, block: enclosing(body.statement), names: &[]string{}})
		body.statement = nil
		return
	}
	if closes, opens := opened[t.Type]; opens {
		body.statement = append(body.statement, t)
		s.frames = append(s.frames, frame{closes: closes})
		return
	}
	if t.Type == hclsyntax.TokenCBrace || t.Type == s.top().closes {
		for i := len(s.frames) - 1; i > 0; i-- { // also closes unclosed ones inside
			if s.frames[i].closes == t.Type {
				s.frames = s.frames[:i]
				break
			}
		}
	}
	body = s.body()
	body.statement = append(body.statement, t)
	if t.Type == hclsyntax.TokenCBrace && s.top() == body && !assigned(body.statement) {
		body.statement = nil // a block ended
	}
}

// assigned reports whether a statement sets an attribute.
func assigned(statement []hclsyntax.Token) bool {
	return len(statement) > 1 && statement[0].Type == hclsyntax.TokenIdent && statement[1].Type == hclsyntax.TokenEqual
}

// enclosing returns the block whose header is a statement.
func enclosing(statement []hclsyntax.Token) *Enclosing {
	return &Enclosing{Type: string(statement[0].Bytes), Labels: labelsOf(statement[1:])}
}

// labelsOf returns the complete labels among tokens.
func labelsOf(tokens []hclsyntax.Token) (labels []string) {
	text := ""
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOQuote:
			text = ""
		case hclsyntax.TokenQuotedLit:
			text += string(t.Bytes)
		case hclsyntax.TokenCQuote:
			labels = append(labels, text)
		case hclsyntax.TokenIdent:
			labels = append(labels, string(t.Bytes))
		}
	}
	return labels
}
