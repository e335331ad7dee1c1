package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// Dynamic blocks are expanded here instead of by hcl's dynblock: the iterators
// must be visible in the evaluation context, because their values belong to
// the canonical text of result-time expressions and to diagnostics.

// open creates a block from syntax, with dynamic blocks expanded.
func (l *loader) open(d *decl, syntax *hclsyntax.Block, schema *BlockSchema, ctx *hcl.EvalContext) *block {
	return l.openBody(d, syntax.Body, syntax.Labels, syntax.DefRange(), schema, ctx)
}

func (l *loader) openBody(d *decl, body *hclsyntax.Body, labels []string, header hcl.Range, schema *BlockSchema, ctx *hcl.EvalContext) *block {
	b := &block{l: l, src: d.src, decl: d, schema: schema, labels: labels, attrs: body.Attributes, ctx: ctx, header: header}
	for _, attr := range sortedAttributes(body.Attributes) {
		if known := schema.Attribute(attr.Name); !schema.Free && known == nil {
			d.failed = true // reported by checkStructure
		}
	}
	for _, inner := range body.Blocks {
		if inner.Type == "dynamic" {
			b.expand(inner)
			continue
		}
		known := schema.Block(inner.Type)
		if known == nil || len(inner.Labels) != len(known.Labels) {
			d.failed = true // reported by checkStructure
			continue
		}
		b.kids = append(b.kids, l.open(d, inner, known, ctx))
	}
	return b
}

// expand adds the blocks that a dynamic block generates.
func (b *block) expand(dynamic *hclsyntax.Block) {
	each, content := dynamic.Body.Attributes["for_each"], (*hclsyntax.Block)(nil)
	for _, inner := range dynamic.Body.Blocks {
		if inner.Type == "content" {
			content = inner
		}
	}
	var made *BlockSchema
	if len(dynamic.Labels) == 1 {
		made = b.schema.Block(dynamic.Labels[0])
	}
	if made == nil || each == nil || content == nil {
		b.decl.failed = true
		return
	}
	items, ok := b.evaluate(each.Expr)
	if !ok {
		return
	}
	items, _ = items.Unmark()
	if items.IsNull() || !items.CanIterateElements() {
		b.fail(finding{
			code: "wrong-type", summary: "Wrong type", rng: each.Expr.Range(), expr: each.Expr, ctx: b.ctx,
			detail: fmt.Sprintf("for_each of a dynamic block must be a map, set or list, not %s.", article(items.Type())),
		})
		return
	}
	for it := items.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if items.Type().IsSetType() {
			key = value
		}
		ctx := b.ctx.NewChild()
		ctx.Variables = map[string]cty.Value{iteratorName(dynamic): cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})}
		labels, ok := b.dynamicLabels(dynamic, made, ctx)
		if !ok {
			return
		}
		b.kids = append(b.kids, b.l.openBody(b.decl, content.Body, labels, dynamic.DefRange(), made, ctx))
	}
}

func (b *block) dynamicLabels(dynamic *hclsyntax.Block, made *BlockSchema, ctx *hcl.EvalContext) ([]string, bool) {
	attr := dynamic.Body.Attributes["labels"]
	if attr == nil || len(made.Labels) == 0 {
		return nil, len(made.Labels) == 0
	}
	at := &block{l: b.l, src: b.src, decl: b.decl, ctx: ctx}
	v, ok := at.evaluate(attr.Expr)
	if !ok {
		return nil, false
	}
	v, _ = v.UnmarkDeep()
	list, err := convert.Convert(v, cty.List(cty.String))
	var labels []string
	if err == nil && !list.IsNull() {
		for _, e := range list.AsValueSlice() {
			if !e.IsNull() {
				labels = append(labels, e.AsString())
			}
		}
	}
	if len(labels) != len(made.Labels) {
		b.fail(finding{
			code: "wrong-labels", summary: "Wrong labels", rng: attr.Expr.Range(), expr: attr.Expr, ctx: ctx,
			detail: fmt.Sprintf("labels must be a list of %d strings, the labels of a %s block.", len(made.Labels), made.Name),
		})
		return nil, false
	}
	return labels, true
}

// iteratorName returns the name of the element in the content of a dynamic block.
func iteratorName(dynamic *hclsyntax.Block) string {
	if attr := dynamic.Body.Attributes["iterator"]; attr != nil {
		if name := hcl.ExprAsKeyword(attr.Expr); name != "" {
			return name
		}
	}
	return dynamic.Labels[0]
}
