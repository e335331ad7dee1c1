package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/report/text"
)

const (
	shownInstances = 3    // values in a hover
	shownValue     = 2000 // bytes of a value in it
)

// hover returns the documentation of the name at a position, its declaration, and its value.
func (s *server) hover(ctx context.Context, now *snapshot, p positionParams) (any, error) {
	in, release := s.find(ctx, now, p.TextDocument.URI, p.Position)
	defer release()
	if in == nil {
		return nil, nil
	}
	parts := in.documentation(&s.language)
	a := in.of.analysis(now)
	if symbol, _, ok := a.Named(in.path, in.at); ok {
		parts = append(parts, in.describeDeclaration(symbol))
	}
	parts = append(parts, in.describeValues(a)...)
	if len(parts) == 0 {
		return nil, nil
	}
	return map[string]any{"contents": markup{Kind: "markdown", Value: strings.Join(parts, "\n\n")}}, nil
}

// documentation returns the documentation of the block, attribute or function whose name is at the position.
func (p *place) documentation(language *lang.Language) []string {
	c := lang.CursorOver(p.text, p.at)
	row := language.At(c.Path)
	switch {
	case row == nil || c.InText || c.Word == "":
	case c.Attribute != "" && c.Before == "" && p.hasArguments(c):
		for _, f := range language.Functions {
			if f.Name == c.Word {
				return []string{functionRow(f)}
			}
		}
	case c.Attribute != "" || c.Header != "":
	case row.Attribute(c.Word) != nil:
		return []string{attributeRow(row.Attribute(c.Word))}
	case row.Block(c.Word) != nil:
		return []string{blockRow(row.Block(c.Word))}
	}
	return nil
}

// hasArguments reports whether the word of a cursor is followed by arguments.
func (p *place) hasArguments(c lang.Cursor) bool {
	after := c.Start + len(c.Word)
	return after < len(p.text) && p.text[after] == '('
}

func attributeRow(a *lang.AttributeSchema) string {
	row := fmt.Sprintf("**%s**: %s", a.Name, a.Type)
	switch {
	case a.Required:
		row += ", required"
	case a.Default != "":
		row += ", default " + inlineCode(a.Default)
	}
	row += "\n\n" + a.Doc
	if len(a.Values) > 0 {
		row += " One of `" + strings.Join(a.Values, "`, `") + "`."
	}
	return row
}

func blockRow(b *lang.BlockSchema) string {
	title := b.Name
	for _, label := range b.Labels {
		title += " \"" + strings.ToUpper(label) + "\""
	}
	return fmt.Sprintf("**%s**\n\n%s", title, b.Doc)
}

func functionRow(f lang.FunctionSchema) string {
	return fmt.Sprintf("`%s`\n\n%s", signature(f), f.Doc)
}

func signature(f lang.FunctionSchema) string {
	params := f.Params
	if f.Variadic != "" {
		params = append(slices.Clip(params), f.Variadic+"...")
	}
	return fmt.Sprintf("%s(%s)", f.Name, strings.Join(params, ", "))
}

// describeDeclaration describes a declaration and its location.
func (p *place) describeDeclaration(symbol lang.Symbol) string {
	said := inlineCode(symbol.Title)
	if symbol.NameSpan.File != "" {
		d := p.now.file(symbol.NameSpan.File)
		said += fmt.Sprintf(" at %s:%d", inlineCode(p.of.displayPath(d.path)), d.position(symbol.NameSpan.Start).Line+1)
	}
	return said
}

// describeValues describes the values at the position.
func (p *place) describeValues(a *lang.Analysis) []string {
	values, total := a.Values(p.path, p.at, shownInstances)
	if len(values) == 0 {
		return nil
	}
	var shown strings.Builder
	for i, v := range values {
		if i > 0 {
			shown.WriteByte('\n')
		}
		if v.In != "" {
			fmt.Fprintf(&shown, "# %s\n", text.Line(v.In, 0))
		}
		value := text.Block(v.Value)
		if len(value) > shownValue {
			value = strings.ToValidUTF8(value[:shownValue], "") + " …"
		}
		shown.WriteString(value)
	}
	if total > len(values) {
		fmt.Fprintf(&shown, "\n# %d in all", total)
	}
	return []string{codeBlock("hcl", shown.String())}
}

// codeBlock returns a text as a block of code that survives any backquotes in it.
func codeBlock(language, s string) string {
	fence := strings.Repeat("`", max(3, 1+text.Backquotes(s)))
	return fence + language + "\n" + s + "\n" + fence
}

// inlineCode returns a text as inline code.
func inlineCode(s string) string {
	return "`" + strings.ReplaceAll(text.Line(s, 0), "`", "'") + "`"
}
