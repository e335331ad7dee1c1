package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Cursor describes a position in HCL text that can have syntax errors. It depends only on the tokens
// before the position.
type Cursor struct {
	Path []Enclosing // the blocks around it, outermost first

	// Header is the type of the block whose header contains the position, and Labels are the labels before
	// it. InText is set within the quotes of a label.
	Header string
	Labels []string

	Attribute string // whose value contains the position; "" in a body or a header
	Nested    bool   // in brackets of the value: a part of it
	InText    bool   // in quotes, and not in a ${} there

	// Word is the part of the name or text before the position, and Start the byte where it begins. Before
	// contains the names and dots before it: "problem." of problem.kv.
	Word   string
	Before string
	Start  int
}

// Enclosing is a block around a position.
type Enclosing struct {
	Type   string
	Labels []string
}

// CursorAt analyses the position at a byte of a text.
func CursorAt(text []byte, at int) Cursor {
	s := newScanner(text, at, -1)
	return s.cursor(at)
}

// NamesAround returns the names of all attributes and blocks in the body that contains a byte of a text.
func NamesAround(text []byte, at int) []string {
	s := newScanner(text, len(text), at)
	if s.around == nil {
		s.around = s.body().names
	}
	return *s.around
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

// word finds the name or text that ends at a byte, and the attribute or label that it belongs to.
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

// TextAround returns the quoted text around a byte, without its quotes; false outside of quotes, or in a
// text with templates.
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

// CursorOver is CursorAt for the end of the name under a position.
func CursorOver(text []byte, at int) Cursor {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos)
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenIdent && t.Range.Start.Byte <= at && at <= t.Range.End.Byte {
			return CursorAt(text, t.Range.End.Byte)
		}
	}
	return CursorAt(text, at)
}
