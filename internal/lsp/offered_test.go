package lsp

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// setting is an attribute of a text that the language has.
type setting struct {
	row     *lang.AttributeSchema
	name    hcl.Range
	value   hcl.Range // within the quotes of a text
	literal string    // the text, when it has nothing else
	block   int       // line of the block at the top that it is in
}

// findSettings finds the attributes of a text with HCL's own parser, and calls blocks with the position of each block's
// type.
func (c *client) findSettings(uri string, blocks func(*lang.BlockSchema, hcl.Range)) (all []setting) {
	c.t.Helper()
	file, problems := hclsyntax.ParseConfig([]byte(c.texts[uri]), "", hcl.InitialPos)
	if problems.HasErrors() {
		c.t.Fatal(problems)
	}
	o := projectOptions(c.t)
	language := lang.Describe(o.Lang())
	var walk func(*hclsyntax.Body, int, []lang.Enclosing)
	walk = func(body *hclsyntax.Body, top int, in []lang.Enclosing) {
		row := language.At(in)
		if row == nil {
			return
		}
		for _, attr := range body.Attributes {
			one := setting{row: row.Attribute(attr.Name), name: attr.NameRange, block: top}
			if one.row == nil {
				continue
			}
			if v, problems := attr.Expr.Value(nil); !problems.HasErrors() && v.Type() == cty.String && !v.IsNull() {
				if text := c.texts[uri][attr.Expr.Range().Start.Byte:attr.Expr.Range().End.Byte]; text == `"`+v.AsString()+`"` {
					one.literal, one.value = v.AsString(), attr.Expr.Range()
					one.value.Start.Byte, one.value.End.Byte = one.value.Start.Byte+1, one.value.End.Byte-1
				}
			}
			all = append(all, one)
		}
		for _, b := range body.Blocks {
			if inner := row.Block(b.Type); inner != nil {
				blocks(inner, b.TypeRange)
			}
			if len(in) == 0 {
				top = b.TypeRange.Start.Line
			}
			walk(b.Body, top, append(slices.Clip(in), lang.Enclosing{Type: b.Type, Labels: b.Labels}))
		}
	}
	walk(file.Body.(*hclsyntax.Body), 0, nil)
	return all
}

// offers returns the completions at an offset of a text whose remainder is not typed yet.
func (c *client) offers(uri string, at int) (labels []string) {
	c.t.Helper()
	var items []completionItem
	c.call("textDocument/completion", c.at(uri, newLines([]byte(c.texts[uri])).position(at)), &items)
	for _, i := range items {
		labels = append(labels, i.Label)
	}
	return labels
}

// checkCompletion checks that the text of an example is offered at its position: attributes and blocks after two
// letters, values, names of files, and references.
func (c *client) checkCompletion(t *testing.T, uri string) {
	t.Helper()
	right := c.texts[uri]
	d := newDocument(uri, 0, []byte(right))
	offered := func(what string, at int, want string) {
		t.Helper()
		if got := c.offers(uri, at); !slices.Contains(got, want) {
			t.Errorf("%s of %s, line %d: %q is not offered: %q", what, filepath.Base(pathOf(uri)), d.position(at).Line+1, want, got)
		}
	}
	typing := func(what string, whole hcl.Range, name string) {
		t.Helper()
		from, to := whole.Start.Byte+min(2, len(name)), whole.End.Byte
		c.edit(uri, d.between(from, to), "")
		offered(what, from, name)
		c.edit(uri, d.between(from, from), right[from:to])
	}
	all := c.findSettings(uri, func(b *lang.BlockSchema, at hcl.Range) { typing("block", at, b.Name) })
	for _, s := range all {
		typing("attribute", s.name, s.row.Name)
		if s.row.Values != nil && s.literal != "" {
			offered("value", s.value.Start.Byte, s.literal)
		}
		there := filepath.Join(filepath.Dir(pathOf(uri)), filepath.FromSlash(s.literal))
		if info, err := os.Stat(there); s.row.Path && s.literal != "" && err == nil && !strings.HasPrefix(path.Base(s.literal), ".") {
			name := path.Base(s.literal)
			if info.IsDir() {
				name += "/"
			}
			offered("path", s.value.Start.Byte+strings.LastIndex(strings.TrimSuffix(s.literal, "/"), "/")+1, name)
		}
	}
	for _, m := range reference.FindAllStringSubmatchIndex(right, -1) {
		start := max(m[4], m[8])
		var to location
		if c.call("textDocument/definition", c.at(uri, d.position(m[1]-1)), &to); to.URI != "" && !c.inComment(d, m[0]) {
			offered("reference", start, right[start:m[1]])
		}
	}
}

// instances returns the numbers of instances that a file's blocks have, by their first lines, from 1. It returns none for
// an invalid configuration, such as one without its checkout.
func (c *client) instances(uri string) map[int]int {
	c.t.Helper()
	o := projectOptions(c.t)
	o.Dir = filepath.Dir(pathOf(uri))
	cfg, found := lang.Load(o.Lang())
	all := map[int]int{}
	if found.HasErrors() {
		return all
	}
	add := func(r diag.Range) {
		if r.File == filepath.Base(pathOf(uri)) {
			all[r.Start.Line]++
		}
	}
	for _, p := range cfg.Problems {
		add(p.Range)
	}
	for _, s := range cfg.Solutions {
		add(s.Range)
	}
	for _, t := range cfg.Tasks {
		add(t.Range)
	}
	return all
}

// checkHover looks whether every attribute of an example has its documented row and, where it
// is a text that some instance has, its value.
func (c *client) checkHover(t *testing.T, uri string) {
	t.Helper()
	d, instances := newDocument(uri, 0, []byte(c.texts[uri])), c.instances(uri)
	all := c.findSettings(uri, func(*lang.BlockSchema, hcl.Range) {})
	for _, s := range all {
		var got struct{ Contents markup }
		c.call("textDocument/hover", c.at(uri, d.position(s.name.Start.Byte)), &got)
		if !strings.Contains(got.Contents.Value, "**"+s.row.Name+"**: ") || !strings.Contains(got.Contents.Value, s.row.Doc) {
			t.Errorf("hover on %s, line %d: %q", s.row.Name, s.name.Start.Line, got.Contents.Value)
		}
		none := slices.ContainsFunc(all, func(other setting) bool { return other.row.Name == "for_each" && other.block == s.block }) && instances[s.block] == 0
		if s.literal != "" && !none && !slices.Contains([]string{"self", "cell", "static"}, s.row.Scope) && !strings.Contains(got.Contents.Value, `"`+s.literal+`"`) {
			t.Errorf("hover on %s, line %d, lacks the value %q: %q", s.row.Name, s.name.Start.Line, s.literal, got.Contents.Value)
		}
	}
}
