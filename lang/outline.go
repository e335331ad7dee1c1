package lang

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Item is a block of a text, or a value in a locals block, with its nested items. Positions are bytes of the
// text.
type Item struct {
	Kind       string // of a block; "local"
	Title      string // as written: problem "kvstore"
	Start, End int
	Name       [2]int // position of its header or name
	Items      []Item
}

// Outline returns the blocks in the readable part of a text.
func Outline(text []byte) []Item {
	file, _ := parseConfig(text, "")
	if file == nil {
		return nil
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	return items(body)
}

func items(body *hclsyntax.Body) []Item {
	var all []Item
	for _, b := range body.Blocks {
		whole, header := wholeBlock(b), b.DefRange()
		item := Item{Kind: b.Type, Title: blockTitle(b.Type, b.Labels), Start: whole.Start.Byte, End: whole.End.Byte, Name: [2]int{header.Start.Byte, header.End.Byte}}
		if b.Type == "locals" {
			for _, attr := range sortedAttributes(b.Body.Attributes) {
				item.Items = append(item.Items, Item{Kind: "local", Title: attr.Name, Start: attr.SrcRange.Start.Byte, End: attr.SrcRange.End.Byte,
					Name: [2]int{attr.NameRange.Start.Byte, attr.NameRange.End.Byte}})
			}
		}
		item.Items = append(item.Items, items(b.Body)...)
		all = append(all, item)
	}
	return all
}

// Fold is a foldable part of a text with several lines: the inside of brackets, a heredoc, or adjacent
// comments.
type Fold struct {
	Start, End int // bytes; of the opening and the closing bracket
	Comment    bool
}

// Folds returns the foldable parts of a text, sorted by end.
func Folds(text []byte) []Fold {
	tokens, _ := hclsyntax.LexConfig(text, "", hcl.InitialPos)
	var folds []Fold
	var open []hclsyntax.Token
	var comment Fold
	last := -1 // line of the comment's last line
	for _, t := range tokens {
		if t.Type == hclsyntax.TokenComment {
			line := t.Range.Start.Line
			if last < 0 || line != last+1 {
				comment = Fold{Start: t.Range.Start.Byte, Comment: true}
			}
			last = line + bytes.Count(bytes.TrimRight(t.Bytes, "\r\n"), []byte("\n"))
			comment.End = t.Range.Start.Byte + len(bytes.TrimRight(t.Bytes, "\r\n"))
			if len(folds) > 0 && folds[len(folds)-1].Comment && folds[len(folds)-1].Start == comment.Start {
				folds = folds[:len(folds)-1]
			}
			if bytes.IndexByte(text[comment.Start:comment.End], '\n') >= 0 {
				folds = append(folds, comment)
			}
			continue
		}
		if t.Type != hclsyntax.TokenNewline {
			last = -1
		}
		if _, opens := opened[t.Type]; opens && t.Type != hclsyntax.TokenOQuote {
			open = append(open, t)
			continue
		}
		if len(open) > 0 && opened[open[len(open)-1].Type] == t.Type {
			from := open[len(open)-1].Range
			open = open[:len(open)-1]
			if t.Range.Start.Line > from.Start.Line {
				folds = append(folds, Fold{Start: from.Start.Byte, End: t.Range.Start.Byte})
			}
		}
	}
	return folds
}
