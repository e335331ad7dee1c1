package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// The short forms of a task's inputs and outputs are expanded to the corresponding blocks, and read as
// such.

// shortInputs adds the input blocks of the attribute inputs.
func (b *block) shortInputs() {
	v, g := b.value(b.schemaOf("inputs", TypeSources))
	if g != isSet {
		return
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() {
		b.wrongType("inputs", `an object such as { "gen.py" = "scripts/gen.py" }`, v.Type())
		return
	}
	b.shortBlocks("inputs", "input", v, func(_ string, source cty.Value) map[string]cty.Value {
		return map[string]cty.Value{"source": source}
	})
}

// shortOutputs adds the output blocks of the attribute outputs.
func (b *block) shortOutputs() {
	paths, ok := b.stringMap("outputs")
	if !ok {
		return
	}
	b.shortBlocks("outputs", "output", paths, func(name string, path cty.Value) map[string]cty.Value {
		kind := OutputAny
		if name == OutputMetrics {
			kind = OutputMetrics
		}
		return map[string]cty.Value{"path": path, "kind": cty.StringVal(kind)}
	})
}

// shortBlocks adds a block for each element of the value of an attribute, with the attributes that of returns.
// Errors are reported at the element, if it is written as one.
func (b *block) shortBlocks(attribute, block string, v cty.Value, of func(key string, element cty.Value) map[string]cty.Value) {
	for it := v.ElementIterator(); it.Next(); {
		key, element := it.Element()
		name, at := key.AsString(), b.elementRange(attribute, key.AsString())
		kid := b.synthetic(block, name, at, of(name, element))
		if name == "" {
			kid.fail(finding{code: "bad-name", summary: "Bad name", rng: at, detail: fmt.Sprintf("A key of %s is empty.", attribute)})
			continue
		}
		b.kids = append(b.kids, kid)
	}
}

// synthetic is a nested block without a block in the source.
func (b *block) synthetic(kind, label string, at hcl.Range, attributes map[string]cty.Value) *block {
	kid := &block{l: b.l, src: b.src, decl: b.decl, schema: b.schema.Block(kind), labels: []string{label}, attrs: hclsyntax.Attributes{}, ctx: b.ctx, header: at}
	for name, value := range attributes {
		kid.attrs[name] = &hclsyntax.Attribute{Name: name, Expr: &hclsyntax.LiteralValueExpr{Val: value, SrcRange: at}, SrcRange: at, NameRange: at}
	}
	return kid
}

// elementRange returns the range of the element with a key in an attribute, or of the whole value.
func (b *block) elementRange(attribute, key string) hcl.Range {
	expr := b.attrs[attribute].Expr
	if object, ok := expr.(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range object.Items {
			if name, problems := item.KeyExpr.Value(b.ctx); !problems.HasErrors() && name.Type() == cty.String && name.IsKnown() && !name.IsNull() && !name.IsMarked() && name.AsString() == key {
				return item.ValueExpr.Range()
			}
		}
	}
	return expr.Range()
}
