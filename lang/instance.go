package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// instance is one element of a for_each, or the only instance of a block without it.
type instance struct {
	key  string
	each bool
	ctx  *hcl.EvalContext
	// Only for an instance from a record: the recorded solution, and the problem that it answers.
	collected *Collected
	problem   *Problem
}

// name returns the default name of an instance of d.
func (i instance) name(d *decl) string {
	if !i.each {
		return d.name()
	}
	return fmt.Sprintf("%s[%q]", d.name(), i.key)
}

// ref returns the reference to an instance of d.
func (i instance) ref(d *decl) string { return d.kind + "." + i.name(d) }

// expandEach evaluates for_each: keys in order of a map, elements in order of
// a list.
func (l *loader) expandEach(d *decl) []instance {
	ctx := l.scope(d)
	attr := d.block.Body.Attributes["for_each"]
	if attr == nil {
		return []instance{{ctx: ctx}}
	}
	b := &block{l: l, src: d.src, decl: d, schema: d.schema, attrs: d.block.Body.Attributes, ctx: ctx, header: d.header}
	a := b.schemaOf("for_each", TypeForEach)
	v, g := b.value(a)
	if g == isNull {
		b.reject("for_each", "wrong-type", "Wrong type", "for_each must not be null.", "an empty list or map makes no instances")
	}
	if g != isSet {
		d.failed = true
		return nil
	}
	t := v.Type()
	mapping := t.IsMapType() || t.IsObjectType()
	if !mapping {
		list, err := convert.Convert(v, cty.List(cty.String))
		if err != nil || !v.CanIterateElements() {
			b.wrongType("for_each", "a map, or a set or list of strings", t)
			return nil
		}
		v = list
	}
	var found []instance
	seen := map[string]bool{}
	for it := v.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if !mapping {
			key = value
		}
		if key.IsNull() || key.AsString() == "" || seen[key.AsString()] {
			b.reject("for_each", "bad-key", "Bad key", fmt.Sprintf("for_each keys must be unique strings; %s is not.", valueText(key)), "")
			return nil
		}
		seen[key.AsString()] = true
		child := ctx.NewChild()
		child.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})}
		found = append(found, instance{key: key.AsString(), each: true, ctx: child})
	}
	return found
}

// collect returns the value of a declaration: that of its only instance, or a map of them.
func collect(insts []instance, values []cty.Value, empty cty.Type) cty.Value {
	if len(insts) == 1 && !insts[0].each && len(values) == 1 {
		return values[0]
	}
	if len(values) == 0 {
		return cty.MapValEmpty(empty)
	}
	parts := map[string]cty.Value{}
	for i, v := range values {
		parts[insts[i].key] = v
	}
	return cty.MapVal(parts)
}
