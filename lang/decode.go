package lang

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// block is one block with dynamic expanded, ready to be asked for its
// attributes. Every answer is checked against the table, mistakes are
// reported, and a value that is unknown because something else failed fails
// silently.
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

// given tells what was written for an attribute.
type given int

const (
	isAbsent given = iota // nothing: the default holds
	isNull                // null: the default holds too, unless null has a meaning
	isSet
	isFailed // a mistake, reported here or elsewhere
)

// usable reports whether the value that came with it, given or default, holds.
func (g given) usable() bool { return g != isFailed }

// fail reports a mistake and fails the declaration.
func (b *block) fail(f finding) {
	b.l.reporterOf(b.decl).report(f)
	b.decl.failed = b.decl.failed || !f.warning
}

// at is a finding at an attribute's value, or at the block when it is absent.
func (b *block) at(name string) finding {
	if attr := b.attrs[name]; attr != nil {
		return finding{rng: attr.Expr.Range(), expr: attr.Expr, ctx: b.ctx}
	}
	return finding{rng: b.header}
}

// reject reports what is wrong with the attribute's value.
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

// schemaOf is the attribute's row of the table. Asking for what is not there
// is a bug in this package.
func (b *block) schemaOf(name string, types ...AttributeType) *AttributeSchema {
	a := b.schema.Attribute(name)
	if a == nil || !slices.Contains(types, a.Type) {
		panic(fmt.Sprintf("lang: %s.%s is read as %v, which is not in the table", b.schema.Name, name, types))
	}
	return a
}

// value evaluates an attribute. The value is known and not null when set.
// Marks are stripped: a secret where the table allows none is a mistake.
func (b *block) value(a *AttributeSchema) (cty.Value, given) {
	v, g := b.marked(a)
	if g != isSet {
		return v, g
	}
	plain, marks := v.UnmarkDeep()
	if secret := secretName(marks); secret != "" && !a.secrets {
		b.reject(a.Name, "sensitive-value", "Sensitive value",
			fmt.Sprintf("%s would show and hash the sensitive value %q.", a.Name, secret), "pass it through env, which keeps it out of keys and output")
		return cty.NilVal, isFailed
	}
	return plain, isSet
}

// marked is value with marks kept.
func (b *block) marked(a *AttributeSchema) (cty.Value, given) {
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
		// As a rule something that it depends on has a mistake of its own.
		r.doubt = &finding{
			code: "unknown-value", summary: "No value", rng: expr.Range(), expr: expr, ctx: b.ctx,
			detail: "The expression has no value. Functions such as contains have none when they are given null.",
			hint:   "ask for null before, as in x == null ? false : contains(list, x)",
		}
	}
	if problems.HasErrors() || !v.IsWhollyKnown() {
		b.decl.failed = true
		return cty.DynamicVal, false
	}
	return v, true
}

// text reads a string.
func (b *block) text(name string) (string, given) {
	a := b.schemaOf(name, TypeText, TypeSource)
	v, g := b.value(a)
	if g != isSet {
		if a.Default != "" {
			return b.l.defaultOf(a).AsString(), g
		}
		return "", g
	}
	s, err := convert.Convert(v, cty.String)
	if err != nil && a.Type == TypeSource {
		b.wrongType(name, "a path, or a task's output such as task.data.outputs.cases", v.Type())
		return "", isFailed
	}
	if err != nil {
		b.wrongType(name, "a string", v.Type())
		return "", isFailed
	}
	if !b.allowed(a, s.AsString()) {
		return "", isFailed
	}
	return s.AsString(), isSet
}

// allowed checks a value against the table's list of values.
func (b *block) allowed(a *AttributeSchema, s string) bool {
	if a.Values == nil || slices.Contains(a.Values, s) {
		return true
	}
	b.reject(a.Name, "unknown-value", "Unknown "+a.Name, fmt.Sprintf("There is no %s %q.", a.Name, s), didYouMean(s, a.Values, ""))
	return false
}

// texts reads a list of strings; one string stands for a list of one where
// the table says so.
func (b *block) texts(name string) ([]string, given) {
	a := b.schemaOf(name, TypeTexts, TypeOneOrTexts)
	v, g := b.value(a)
	if g != isSet {
		if a.Default == "" {
			return nil, g
		}
		v = b.l.defaultOf(a)
	}
	if a.Type == TypeOneOrTexts && v.Type() == cty.String {
		return []string{v.AsString()}, g
	}
	list, err := convert.Convert(v, cty.List(cty.String))
	if err != nil || list.IsNull() {
		b.wrongType(name, "a list of strings", v.Type())
		return nil, isFailed
	}
	var texts []string
	for _, e := range list.AsValueSlice() {
		if e.IsNull() {
			b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("An element of %s is null.", name), "")
			return nil, isFailed
		}
		if !b.allowed(a, e.AsString()) {
			return nil, isFailed
		}
		texts = append(texts, e.AsString())
	}
	return texts, g
}

// integer reads a whole number of at least least.
func (b *block) integer(name string, least int64) (int, given) {
	a := b.schemaOf(name, TypeInteger)
	v, g := b.value(a)
	if g != isSet {
		if a.Default == "" {
			return 0, g
		}
		v = b.l.defaultOf(a)
	}
	n, ok := b.whole(name, name, v)
	switch {
	case !ok:
		return 0, isFailed
	case int64(n) < least:
		b.reject(name, "out-of-range", "Number out of range", fmt.Sprintf("%s must be at least %d, not %d.", name, least, n), "")
		return 0, isFailed
	}
	return n, g
}

// integers reads a list of whole numbers between least and most.
func (b *block) integers(name string, least, most int) ([]int, given) {
	a := b.schemaOf(name, TypeIntegers)
	v, g := b.value(a)
	if g != isSet {
		if a.Default == "" {
			return nil, g
		}
		v = b.l.defaultOf(a)
	}
	if t := v.Type(); !t.IsTupleType() && !t.IsListType() && !t.IsSetType() {
		b.wrongType(name, "a list of whole numbers", t)
		return nil, isFailed
	}
	var numbers []int
	for _, e := range v.AsValueSlice() {
		n, ok := b.whole(name, "an element of "+name, e)
		if !ok {
			return nil, isFailed
		}
		if n < least || n > most {
			b.reject(name, "out-of-range", "Number out of range", fmt.Sprintf("an element of %s must be between %d and %d, not %d.", name, least, most, n), "")
			return nil, isFailed
		}
		numbers = append(numbers, n)
	}
	return numbers, g
}

// whole converts a value, or an element of one, to a whole number.
func (b *block) whole(name, what string, v cty.Value) (int, bool) {
	number, err := convert.Convert(v, cty.Number)
	if err != nil || number.IsNull() {
		b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("%s must be a whole number, not %s.", what, article(v.Type())), "")
		return 0, false
	}
	n, accuracy := number.AsBigFloat().Int64()
	if accuracy != big.Exact || int64(int(n)) != n {
		b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("%s must be a whole number, not %s.", what, valueText(number)), "")
		return 0, false
	}
	return int(n), true
}

// number reads a number above zero.
func (b *block) number(name string) (float64, given) {
	a := b.schemaOf(name, TypeNumber)
	v, g := b.value(a)
	if g != isSet {
		return 0, g
	}
	n, err := convert.Convert(v, cty.Number)
	if err != nil {
		b.wrongType(name, "a number", v.Type())
		return 0, isFailed
	}
	f, _ := n.AsBigFloat().Float64()
	if !(f > 0) || math.IsInf(f, 0) {
		b.reject(name, "out-of-range", "Number out of range", fmt.Sprintf("%s must be above 0, not %s.", name, valueText(n)), "")
		return 0, isFailed
	}
	return f, isSet
}

// size reads a number of bytes above zero.
func (b *block) size(name string) (int64, given) {
	a := b.schemaOf(name, TypeSize)
	v, g := b.value(a)
	if g != isSet {
		if a.Default == "" {
			return 0, g
		}
		v = b.l.defaultOf(a)
	}
	text, err := convert.Convert(v, cty.String)
	if err != nil {
		b.wrongType(name, `a size such as "512MiB"`, v.Type())
		return 0, isFailed
	}
	n, err := ParseSize(text.AsString())
	if err == nil && n == 0 {
		err = fmt.Errorf("%q is nothing at all", text.AsString())
	}
	if err != nil {
		b.reject(name, "bad-size", "Bad size", fmt.Sprintf("%s: %v.", name, err), "")
		return 0, isFailed
	}
	return n, g
}

// truth reads a bool.
func (b *block) truth(name string) (bool, given) {
	a := b.schemaOf(name, TypeBool)
	v, g := b.value(a)
	if g != isSet {
		return a.Default != "" && b.l.defaultOf(a).True(), g
	}
	t, err := convert.Convert(v, cty.Bool)
	if err != nil {
		b.wrongType(name, "true or false", v.Type())
		return false, isFailed
	}
	return t.True(), isSet
}

// duration reads a duration of at least zero.
func (b *block) duration(name string) (time.Duration, given) {
	a := b.schemaOf(name, TypeDuration)
	v, g := b.value(a)
	if g != isSet {
		if a.Default == "" {
			return 0, g
		}
		v = b.l.defaultOf(a)
	}
	if v.Type() != cty.String && v.Type() != cty.Number {
		b.wrongType(name, "a duration such as \"20s\"", v.Type())
		return 0, isFailed
	}
	text, _ := convert.Convert(v, cty.String)
	d, hint, err := parseDuration(text.AsString(), v.Type() == cty.Number)
	if err != nil {
		b.reject(name, "bad-duration", "Bad duration", fmt.Sprintf("%s: %v.", name, err), hint)
		return 0, isFailed
	}
	return d, g
}

// limit reads a duration that bounds something: null is none, and zero is
// refused because some read it as none and others as at once.
func (b *block) limit(name string) (time.Duration, given) {
	d, g := b.duration(name)
	switch {
	case g == isNull:
		return 0, g
	case g == isSet && d == 0:
		b.reject(name, "bad-duration", "Bad duration", fmt.Sprintf("%s must be longer than 0.", name), "write "+name+" = null for no limit")
		return 0, isFailed
	}
	return d, g
}

// path reads a path and makes it absolute.
func (b *block) path(name string) (string, given) {
	if a := b.schema.Attribute(name); a == nil || !a.Path {
		panic(fmt.Sprintf("lang: %s.%s is read as a path, which is not in the table", b.schema.Name, name))
	}
	s, g := b.text(name)
	if g != isSet {
		return "", g
	}
	if s == "" || strings.ContainsRune(s, 0) {
		b.reject(name, "bad-path", "Bad path", fmt.Sprintf("%s must be a path, not %q.", name, s), "")
		return "", isFailed
	}
	return b.l.resolve(b.src, s), isSet
}

// only returns the single nested block of a kind, or nil; further ones are
// mistakes.
func (b *block) only(kind string) *block {
	all := b.children(kind)
	if len(all) == 0 {
		return nil
	}
	for _, more := range all[1:] {
		more.fail(finding{
			code: "duplicate", summary: "Duplicate block", rng: more.header,
			detail: fmt.Sprintf("There is a %s block at %s already.", kind, place(all[0].header)),
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

// label is the block's name.
func (b *block) label() string { return b.labels[len(b.labels)-1] }

// defaultOf is the table's default, parsed once.
func (l *loader) defaultOf(a *AttributeSchema) cty.Value {
	v, known := l.defaults[a.Default]
	if !known {
		v = defaultValue(a)
		l.defaults[a.Default] = v
	}
	return v
}

// defaultValue is the table's default. One that does not parse is a bug.
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
