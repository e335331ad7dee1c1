package lang

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/diag"
)

// secretMark is the cty mark of a value that must not be shown or hashed. It holds the name that represents
// the value in a key: a secret's, or "var.<name>" of a sensitive variable.
type secretMark string

const maskedText = "(sensitive)"

// secretName joins the names of all secrets in v, sorted.
func secretName(marks cty.ValueMarks) string {
	var names []string
	for m := range marks {
		if s, ok := m.(secretMark); ok {
			names = append(names, string(s))
		}
	}
	slices.Sort(names)
	return strings.Join(names, "+")
}

// valueText renders v as HCL text; equal values of equal type give equal text.
// Sensitive parts are masked.
func valueText(v cty.Value) string {
	v = masked(v)
	if !v.IsWhollyKnown() {
		return "(unknown)"
	}
	return string(hclwrite.Format(hclwrite.TokensForValue(v).Bytes()))
}

// masked replaces every marked part. Collections become objects and tuples, whose parts can differ in type.
func masked(v cty.Value) cty.Value {
	if v.IsMarked() {
		return cty.StringVal(maskedText)
	}
	if v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return v
	}
	t := v.Type()
	if t.IsObjectType() || t.IsMapType() {
		parts := map[string]cty.Value{}
		for it := v.ElementIterator(); it.Next(); {
			key, part := it.Element()
			parts[key.AsString()] = masked(part)
		}
		return cty.ObjectVal(parts)
	}
	var parts []cty.Value
	for it := v.ElementIterator(); it.Next(); {
		_, part := it.Element()
		parts = append(parts, masked(part))
	}
	return cty.TupleVal(parts)
}

// shortText returns valueText on one line, truncated to fit next to a snippet.
func shortText(v cty.Value) string {
	const limit = 80
	text := []rune(strings.Join(strings.Fields(valueText(v)), " "))
	if len(text) > limit {
		text = append(text[:limit-1], '…')
	}
	return string(text)
}

// referenceValues lists the values of the references in expr, distinct, in source order.
func referenceValues(src *source, expr hcl.Expression, ctx *hcl.EvalContext) []diag.Value {
	syntax, ok := expr.(hclsyntax.Expression)
	if !ok || ctx == nil {
		return nil
	}
	var values []diag.Value
	for _, t := range syntax.Variables() {
		text := rangeText(src, t.SourceRange())
		if slices.ContainsFunc(values, func(v diag.Value) bool { return v.Expression == text }) {
			continue
		}
		v, problems := t.TraverseAbs(ctx)
		if problems.HasErrors() || (!v.IsMarked() && !v.IsWhollyKnown()) {
			continue
		}
		values = append(values, diag.Value{Expression: text, Value: shortText(v)})
	}
	return values
}

func rangeText(src *source, r hcl.Range) string {
	if r.Start.Byte < 0 || r.End.Byte > len(src.bytes) || r.Start.Byte > r.End.Byte {
		return ""
	}
	return string(src.bytes[r.Start.Byte:r.End.Byte])
}

// failingStep evaluates t step by step in ctx, and returns the first missing name and the existing names.
func failingStep(t hcl.Traversal, ctx *hcl.EvalContext) (string, []string) {
	v, problems := t[:1].TraverseAbs(ctx)
	if problems.HasErrors() {
		return "", nil
	}
	for _, step := range t[1:] {
		v, _ = v.Unmark()
		name := ""
		switch s := step.(type) {
		case hcl.TraverseAttr:
			name = s.Name
		case hcl.TraverseIndex:
			if s.Key.Type() == cty.String && s.Key.IsKnown() && !s.Key.IsNull() {
				name = s.Key.AsString()
			}
		}
		next, problems := step.TraversalStep(v)
		if problems.HasErrors() {
			if name == "" || v.IsNull() || !v.IsKnown() && !v.Type().IsObjectType() {
				return "", nil
			}
			return name, keysOf(v)
		}
		v = next
	}
	return "", nil
}

func keysOf(v cty.Value) []string {
	t := v.Type()
	if t.IsObjectType() {
		return slices.Sorted(maps.Keys(t.AttributeTypes()))
	}
	if !t.IsMapType() {
		return nil
	}
	var keys []string
	for it := v.ElementIterator(); it.Next(); {
		key, _ := it.Element()
		keys = append(keys, key.AsString())
	}
	return keys
}
