package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Cursor says what a place in a text of HCL is, whether or not the text is whole: it goes by
// the tokens before the place alone.
type Cursor struct {
	Path []Enclosing // the blocks around it, outermost first

	// Header is the type of the block whose header the place is in, and Labels those before
	// it; In its quotes InText is set.
	Header string
	Labels []string

	Attribute string // whose value the place is in; "" in a body or a header
	Nested    bool   // in brackets of the value: a part of it
	InText    bool   // in quotes, and not in a ${} there

	// Word is what is written of the name or text that ends at the place, and Start the byte
	// where it begins. Before are the names and dots before it: "problem." of problem.kv.
	Word   string
	Before string
	Start  int
}

// Enclosing is a block around a place.
type Enclosing struct {
	Type   string
	Labels []string
}

// frame is something that was opened before a place and not closed: a block, a bracket of an
// expression, or a text with its templates.
type frame struct {
	closes    hclsyntax.TokenType
	block     *Enclosing
	statement []hclsyntax.Token // of a body: since it began a statement
	names     *[]string         // of a body: what its statements begin with
}

// CursorAt finds out what the place at a byte of a text is.
func CursorAt(text []byte, at int) Cursor {
	s := newScanner(text, at, -1)
	return s.cursor(at)
}

// NamesAround are the names of attributes and blocks in the body that the place at a byte of
// a text is in, before it and behind it.
func NamesAround(text []byte, at int) []string {
	s := newScanner(text, len(text), at)
	if s.around == nil {
		s.around = s.body().names
	}
	return *s.around
}

// maxUnended is how many texts without an end are allowed for: behind each, tokens are looked
// for again, as the rest of the file is no text.
const maxUnended = 50

// scan takes the tokens between two bytes. It returns where the line after a text without an
// end begins, or -1.
func (s *scanner) scan(text []byte, from, at int) int {
	tokens, _ := hclsyntax.LexConfig(text[from:], "", hcl.Pos{Byte: from, Line: 1, Column: 1})
	for _, t := range tokens {
		if t.Range.Start.Byte >= at || t.Type == hclsyntax.TokenEOF {
			break
		}
		if t.Range.End.Byte > at { // what is behind the place does not count
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
	watch   int       // byte whose body's names are wanted; -1 for none
	around  *[]string // they
	frames  []frame
	comment bool // the last token is one, and not ended
}

// newScanner is one that has taken the tokens of a text before a byte.
func newScanner(text []byte, at, watch int) *scanner {
	s := &scanner{watch: watch, frames: []frame{{names: &[]string{}}}}
	for from, again := 0, 0; from >= 0 && again < maxUnended; again++ {
		from = s.scan(text, from, at)
	}
	return s
}

func (s *scanner) top() *frame { return &s.frames[len(s.frames)-1] }

// body is the innermost body.
func (s *scanner) body() *frame {
	for i := len(s.frames) - 1; i > 0; i-- {
		if s.frames[i].block != nil {
			return &s.frames[i]
		}
	}
	return &s.frames[0]
}

// opened are the tokens after which something is open, and those that close it.
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
	case t.Type == hclsyntax.TokenComment:
		return
	case t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenQuotedNewline:
		if s.top().closes == hclsyntax.TokenCQuote { // a text that was not ended
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
		for i := len(s.frames) - 1; i > 0; i-- { // what was left open within ends, too
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

// enclosing is the block that a statement is the header of.
func enclosing(statement []hclsyntax.Token) *Enclosing {
	return &Enclosing{Type: string(statement[0].Bytes), Labels: labelsOf(statement[1:])}
}

// labelsOf are the labels among tokens. One that is being written is not among them.
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

func (s *scanner) cursor(at int) Cursor {
	c := Cursor{Start: at}
	for _, f := range s.frames {
		if f.block != nil {
			c.Path = append(c.Path, *f.block)
		}
	}
	body, top := s.body(), s.top()
	statement := body.statement
	if s.comment {
		return Cursor{Path: c.Path, Start: at, InText: true, Attribute: "#"}
	}
	c.InText = top.closes == hclsyntax.TokenCQuote || top.closes == hclsyntax.TokenCHeredoc
	switch {
	case assigned(statement):
		c.Attribute = string(statement[0].Bytes)
		c.Nested = top != body && !(c.InText && len(s.frames) > 1 && &s.frames[len(s.frames)-2] == body)
		statement = statement[2:]
	case len(statement) > 1:
		c.Header = string(statement[0].Bytes)
		c.Labels = labelsOf(statement[1:])
		statement = statement[1:]
	}
	c.word(statement, at)
	return c
}

// word finds the name or text that ends at a byte, and what it belongs to.
func (c *Cursor) word(tokens []hclsyntax.Token, at int) {
	last := len(tokens) - 1
	if c.InText {
		for ; last >= 0 && isTextual(tokens[last].Type); last-- {
			c.Word = string(tokens[last].Bytes) + c.Word
		}
		c.Start = at - len(c.Word)
		return
	}
	if last >= 0 && tokens[last].Type == hclsyntax.TokenIdent && tokens[last].Range.End.Byte == at {
		c.Word, c.Start = string(tokens[last].Bytes), tokens[last].Range.Start.Byte
		if c.Header != "" && len(c.Labels) > 0 { // it is the label that is being written
			c.Labels = c.Labels[:len(c.Labels)-1]
		}
		last--
	}
	end, depth := c.Start, 0
	for ; last >= 0 && tokens[last].Range.End.Byte == end; last-- {
		switch tokens[last].Type {
		case hclsyntax.TokenIdent, hclsyntax.TokenDot:
		case hclsyntax.TokenCBrack:
			depth++
		case hclsyntax.TokenOBrack:
			depth--
		default: // a key or an index
			if depth == 0 {
				return
			}
		}
		if depth < 0 { // the list that the reference is in
			return
		}
		c.Before = string(tokens[last].Bytes) + c.Before
		end = tokens[last].Range.Start.Byte
	}
}

// TextAround is the text in quotes that the place at a byte is in, without them; false when it
// is in none, or in one with templates.
func TextAround(text []byte, at int) (string, bool) {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos)
	for i, t := range tokens {
		if t.Type == hclsyntax.TokenQuotedLit && t.Range.Start.Byte <= at && at <= t.Range.End.Byte {
			whole := i > 0 && tokens[i-1].Type == hclsyntax.TokenOQuote && i+1 < len(tokens) && tokens[i+1].Type == hclsyntax.TokenCQuote
			return string(t.Bytes), whole
		}
	}
	return "", false
}

// CursorOver is CursorAt behind the name that a place is in.
func CursorOver(text []byte, at int) Cursor {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos)
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenIdent && t.Range.Start.Byte <= at && at <= t.Range.End.Byte {
			return CursorAt(text, t.Range.End.Byte)
		}
	}
	return CursorAt(text, at)
}
