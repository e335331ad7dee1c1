package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// block is a block with dynamic blocks expanded. Its methods check attributes against the table and report
// errors. A value that is unknown because of another error fails silently.
type block struct {
	l      *loader
	src    *source
	decl   *decl // the declaration that fails with it
	schema *BlockSchema
	labels []string
	attrs  hclsyntax.Attributes
	kids   []*block
	ctx    *hcl.EvalContext
	header hcl.Range
}

// presence classifies the value of an attribute.
type presence int

const (
	isAbsent presence = iota // the default applies
	isNull                   // null: the default applies too, unless null has a meaning
	isSet
	isFailed // an error, reported here or elsewhere
)

// usable reports whether the value that was returned with it is valid, whether set or default.
func (g presence) usable() bool { return g != isFailed }

// fail reports an error and fails the declaration.
func (b *block) fail(f finding) {
	b.l.reporterOf(b.decl).report(f)
	b.decl.failed = b.decl.failed || !f.warning
}

// at returns a finding at an attribute's value, or at the block if the attribute is absent.
func (b *block) at(name string) finding {
	if attr := b.attrs[name]; attr != nil {
		return finding{rng: attr.Expr.Range(), expr: attr.Expr, ctx: b.ctx}
	}
	return finding{rng: b.header}
}

// reject reports an error in the attribute's value.
func (b *block) reject(name, code, summary, detail, hint string) {
	f := b.at(name)
	f.code, f.summary, f.detail, f.hint = code, summary, detail, hint
	b.fail(f)
}

func (b *block) wrongType(name string, wanted string, got cty.Type) {
	b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("%s must be %s, not %s.", name, wanted, article(got)), "")
}

func article(t cty.Type) string {
	switch {
	case t == cty.DynamicPseudoType:
		return "null"
	case t == cty.Number:
		return "a number"
	case t == cty.String:
		return "a string"
	case t == cty.Bool:
		return "a bool"
	case t.IsTupleType():
		return "a list"
	case t.IsObjectType():
		return "an object"
	}
	return "a " + t.FriendlyName()
}

// schemaOf returns the attribute's row of the table. It panics if the table has no such row.
func (b *block) schemaOf(name string, types ...AttributeType) *AttributeSchema {
	a := b.schema.Attribute(name)
	if a == nil || !slices.Contains(types, a.Type) {
		panic(fmt.Sprintf("lang: %s.%s is read as %v, which is not in the table", b.schema.Name, name, types))
	}
	return a
}

// value evaluates an attribute. A set value is known and not null. Marks are removed; a secret is an error
// unless the table allows it.
func (b *block) value(a *AttributeSchema) (cty.Value, presence) {
	v, g := b.marked(a)
	if g != isSet {
		return v, g
	}
	plain, marks := v.UnmarkDeep()
	if secret := secretName(marks); secret != "" && !a.Secrets {
		b.reject(a.Name, "sensitive-value", "Sensitive value",
			fmt.Sprintf("%s would expose and hash the sensitive value %q.", a.Name, secret), "pass it through env, which keeps it out of keys and output")
		return cty.NilVal, isFailed
	}
	return plain, isSet
}

// marked is like value, but keeps marks.
func (b *block) marked(a *AttributeSchema) (cty.Value, presence) {
	attr := b.attrs[a.Name]
	if attr == nil {
		if a.Required { // reported by checkStructure
			b.decl.failed = true
			return cty.NilVal, isFailed
		}
		return cty.NilVal, isAbsent
	}
	v, ok := b.evaluate(attr.Expr)
	switch plain, _ := v.Unmark(); {
	case !ok:
		return cty.NilVal, isFailed
	case plain.IsNull():
		if a.Required {
			b.reject(a.Name, "wrong-type", "Wrong type", fmt.Sprintf("%s must not be null.", a.Name), "")
			return cty.NilVal, isFailed
		}
		return cty.NilVal, isNull
	}
	return v, isSet
}

// evaluate evaluates an expression of the block; false means failed.
func (b *block) evaluate(expr hcl.Expression) (cty.Value, bool) {
	if b.l.bad[expr.Range()] {
		b.decl.failed = true
		return cty.DynamicVal, false
	}
	v, problems := expr.Value(b.ctx)
	for _, p := range problems {
		if p.Expression == nil {
			p.Expression, p.EvalContext = expr, b.ctx
		}
		b.fail(fromHCL(p, ""))
	}
	if !problems.HasErrors() {
		if err := funcs.CheckSize(v); err != nil {
			b.fail(finding{code: "too-large", summary: "Value too large", rng: expr.Range(), detail: "It cannot be used: " + err.Error() + "."})
			return cty.DynamicVal, false
		}
	}
	if r := b.l.reporterOf(b.decl); !problems.HasErrors() && !v.IsWhollyKnown() && r.doubt == nil {
		// Usually, one of its dependencies has an error.
		r.doubt = &finding{
			code: "unknown-value", summary: "No value", rng: expr.Range(), expr: expr, ctx: b.ctx,
			detail: "The expression has no value. Functions such as contains have none for null.",
			hint:   "handle null before, as in x == null ? false : contains(list, x)",
		}
	}
	if problems.HasErrors() || !v.IsWhollyKnown() {
		b.decl.failed = true
		return cty.DynamicVal, false
	}
	return v, true
}

// singleBlock returns the single nested block of a kind, or nil, and reports further ones.
func (b *block) singleBlock(kind string) *block {
	all := b.children(kind)
	if len(all) == 0 {
		return nil
	}
	for _, more := range all[1:] {
		more.fail(finding{
			code: "duplicate", summary: "Duplicate block", rng: more.header,
			detail: fmt.Sprintf("A %s block already exists at %s.", kind, place(all[0].header)),
		})
	}
	return all[0]
}

// children returns the nested blocks of a kind in source order.
func (b *block) children(kind string) []*block {
	var found []*block
	for _, kid := range b.kids {
		if kid.schema.Name == kind {
			found = append(found, kid)
		}
	}
	return found
}

// label returns the block's name.
func (b *block) label() string { return b.labels[len(b.labels)-1] }

// defaultOf returns the table's default, parsed once.
func (l *loader) defaultOf(a *AttributeSchema) cty.Value {
	v, known := l.defaults[a.Default]
	if !known {
		v = defaultValue(a)
		l.defaults[a.Default] = v
	}
	return v
}

// defaultValue parses the table's default. It panics if that fails.
func defaultValue(a *AttributeSchema) cty.Value {
	expr, problems := hclsyntax.ParseExpression([]byte(a.Default), "default", hcl.InitialPos)
	if !problems.HasErrors() {
		v, evaluation := expr.Value(nil)
		if !evaluation.HasErrors() {
			return v
		}
		problems = evaluation
	}
	panic(fmt.Sprintf("lang: default of %s: %v", a.Name, problems))
}
