package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/lang"
)

// value offers the values of an attribute.
func (c *completer) value() {
	a := c.row.Attribute(c.cursor.Attribute)
	switch {
	case a == nil && !c.row.Free:
		return
	case a == nil:
		a = &lang.AttributeSchema{Type: lang.TypeAny}
	}
	switch {
	case c.cursor.InText && a.Values != nil:
		c.values(a)
	case c.cursor.InText:
		if a.Path || c.cursor.Nested { // file("…"), too
			c.files()
		}
	case c.cursor.Before != "":
		c.steps(a)
	default:
		c.values(a)
		c.roots(a)
	}
}

func (c *completer) values(a *lang.AttributeSchema) {
	for i, value := range a.Values {
		c.add(completesValue, value, c.quoteText(value), "", "").SortText = fmt.Sprintf("0%03d", i)
	}
	if a.Type == lang.TypeBool && !c.cursor.InText {
		c.add(completesValue, "true", "true", "", "").SortText = "0"
		c.add(completesValue, "false", "false", "", "").SortText = "0"
	}
}

// roots offers references, first those of the expected kind, and functions.
func (c *completer) roots(a *lang.AttributeSchema) {
	analysis := c.of.analysis(c.now)
	for _, prefix := range a.Refers {
		for _, s := range analysis.Candidates(prefix, c.path, c.at) {
			c.add(completesReference, s.Ref, s.Ref, s.Kind, "").SortText = "1" + s.Ref
		}
	}
	for _, r := range c.language.References {
		c.add(completesVariable, r.Prefix, r.Prefix, "reference to "+r.Block, "").SortText = "2" + r.Prefix
	}
	names := []string{"path"}
	if slices.Contains([]string{"checkpoint", "cell", "self"}, a.Scope) {
		names = append(names, a.Scope)
	}
	if c.present()["for_each"] && a.Name != "for_each" {
		names = append(names, "each")
	}
	for _, name := range names {
		c.add(completesVariable, name, name, "", "").SortText = "2" + name
	}
	for _, s := range analysis.Candidates("function", c.path, c.at) {
		c.call(s.Name, s.Title, "")
	}
	for _, f := range c.language.Functions {
		c.call(f.Name, signature(f), f.Doc)
	}
}

func (c *completer) call(name, detail, doc string) {
	c.snippet(completesFunction, name, name+"(", name+"($0)", detail, doc)
	c.items[len(c.items)-1].SortText = "3" + name
}

// steps offers the names that can follow a reference.
func (c *completer) steps(a *lang.AttributeSchema) {
	before := strings.TrimSuffix(c.cursor.Before, ".")
	if before == c.cursor.Before {
		return
	}
	prefix, kind, _ := strings.Cut(before, ".")
	analysis := c.of.analysis(c.now)
	seen := map[string]bool{}
	offer := func(name, detail string) {
		if !seen[name] {
			seen[name] = true
			c.add(completesField, name, name, detail, "")
		}
	}
	if prefix == before || prefix == "backend" && !strings.Contains(kind, ".") {
		for _, s := range analysis.Candidates(prefix, c.path, c.at) {
			names := strings.Split(s.Ref, ".")
			switch {
			case prefix == before && len(names) > 1:
				offer(names[1], s.Title)
			case len(names) > 2 && names[1] == kind:
				offer(names[2], s.Title)
			}
		}
	}
	for _, name := range lang.ScopeKeys(before, c.row.Name, a.Scope) {
		offer(name, "")
	}
	if len(seen) > 0 {
		return
	}
	for _, key := range c.of.values(c.now).Keys(before, c.path, c.at) {
		offer(key, "")
	}
}
