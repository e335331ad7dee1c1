package lsp

import (
	"context"
	"fmt"
	"slices"

	"github.com/fevalgraph/fevalgraph/lang"
)

// Kinds of completions in the protocol.
const (
	completesFunction  = 3
	completesField     = 5
	completesVariable  = 6
	completesClass     = 7
	completesProperty  = 10
	completesValue     = 12
	completesKeyword   = 14
	completesFile      = 17
	completesReference = 18
	completesFolder    = 19
)

type completionItem struct {
	Label            string    `json:"label"`
	Kind             int       `json:"kind"`
	Detail           string    `json:"detail,omitempty"`
	Documentation    *markup   `json:"documentation,omitempty"`
	SortText         string    `json:"sortText,omitempty"`
	FilterText       string    `json:"filterText,omitempty"`
	InsertTextFormat int       `json:"insertTextFormat,omitempty"` // 2 is a snippet
	TextEdit         *textEdit `json:"textEdit"`
}

// completer collects the completions at a position.
type completer struct {
	*place
	cursor   lang.Cursor
	language *lang.Language
	row      *lang.BlockSchema // of the block around the position, or nil
	snippets bool
	items    []completionItem
}

// complete offers blocks and attributes that are missing in the body, kinds of blocks, values, references by
// kind, functions, and names of files.
func (s *server) complete(ctx context.Context, now *snapshot, p positionParams) (any, error) {
	in, release := s.find(ctx, now, p.TextDocument.URI, p.Position)
	defer release()
	if in == nil {
		return []completionItem{}, nil
	}
	s.mu.Lock()
	snippets := s.client.TextDocument.Completion.CompletionItem.SnippetSupport
	s.mu.Unlock()
	c := completer{place: in, cursor: lang.CursorAt(in.text, in.at), language: &s.language, snippets: snippets, items: []completionItem{}}
	c.row = c.language.At(c.cursor.Path)
	switch {
	case c.row == nil || c.cursor.Attribute == "#":
	case c.cursor.Header != "":
		c.label()
	case c.cursor.Attribute != "":
		c.value()
	default:
		c.names()
	}
	return c.items, nil
}

// add offers a text that replaces the word at the position.
func (c *completer) add(kind int, label, insert, detail, doc string) *completionItem {
	i := completionItem{Label: label, Kind: kind, Detail: detail, TextEdit: &textEdit{Range: c.between(c.cursor.Start, c.at), NewText: insert}}
	if doc != "" {
		i.Documentation = &markup{Kind: "markdown", Value: doc}
	}
	c.items = append(c.items, i)
	return &c.items[len(c.items)-1]
}

// snippet is like add, with placeholders for clients that support them.
func (c *completer) snippet(kind int, label, plain, snippet, detail, doc string) {
	if !c.snippets {
		c.add(kind, label, plain, detail, doc)
		return
	}
	c.add(kind, label, snippet, detail, doc).InsertTextFormat = 2
}

// names offers attributes and blocks.
func (c *completer) names() {
	present := c.present()
	for _, a := range c.row.Attributes {
		if present[a.Name] {
			continue
		}
		value := "$0"
		if textual(a.Type) {
			value = `"$0"`
		}
		c.snippet(completesProperty, a.Name, a.Name+" = ", a.Name+" = "+value, string(a.Type), attributeRow(&a))
	}
	for _, b := range c.row.Blocks {
		if present[b.Name] && !b.Repeats {
			continue
		}
		header, filled := b.Name, b.Name
		for i, label := range b.Labels {
			header += ` ""`
			filled += fmt.Sprintf(` "${%d:%s}"`, i+1, label)
		}
		c.snippet(completesClass, b.Name, header+" {}", filled+" {\n  $0\n}", "block", blockRow(&b))
	}
	if len(c.cursor.Path) > 0 && len(c.row.Blocks) > 0 && c.row.Name != "dynamic" {
		c.snippet(completesClass, "dynamic", `dynamic "" {}`, "dynamic \"${1:block}\" {\n  for_each = $2\n  content {\n    $0\n  }\n}", "block", "Makes blocks for each element of a list or map.")
	}
}

// textual reports whether values of a type are mostly written in quotes.
func textual(t lang.AttributeType) bool {
	return slices.Contains([]lang.AttributeType{lang.TypeText, lang.TypeDuration, lang.TypeSize, lang.TypeOneOrTexts, lang.TypeSource}, t)
}

// present returns the names in the body around the position.
func (c *completer) present() map[string]bool {
	names := map[string]bool{}
	for _, name := range lang.NamesAround(c.text, c.at) {
		names[name] = true
	}
	return names
}

// label offers kinds of blocks, for the first label.
func (c *completer) label() {
	if c.cursor.Header == "dynamic" && len(c.cursor.Labels) == 0 {
		for _, b := range c.row.Blocks {
			c.add(completesClass, b.Name, c.quoteText(b.Name), "block", blockRow(&b))
		}
		return
	}
	block := c.row.Block(c.cursor.Header)
	if block == nil || len(c.cursor.Labels) > 0 {
		return
	}
	for _, kind := range block.Kinds {
		c.add(completesKeyword, kind.Name, c.quoteText(kind.Name), block.Name, kind.Doc)
	}
}

// quoteText returns a text in quotes, or without if the position is in quotes already.
func (c *completer) quoteText(s string) string {
	if c.cursor.InText {
		return s
	}
	return `"` + s + `"`
}
