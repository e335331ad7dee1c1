package lang

import (
	"fmt"
	"maps"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// evaluateVariable selects the value with the highest precedence, converts it to the declared type and
// checks it.
func (l *loader) evaluateVariable(d *decl) cty.Value {
	b := l.open(d, d.block, d.schema, l.scope(d))
	v := Variable{Name: d.name(), Type: "any", Range: convertRange(d.header)}
	b.fill(&v)

	wanted, defaults := cty.DynamicPseudoType, (*typeexpr.Defaults)(nil)
	if attr := b.attrs["type"]; attr != nil {
		var problems hcl.Diagnostics
		wanted, defaults, problems = typeexpr.TypeConstraintWithDefaults(attr.Expr)
		for _, p := range problems {
			b.fail(fromHCL(p, "bad-type"))
		}
		if problems.HasErrors() {
			return cty.DynamicVal
		}
		v.Type = canonicalText([]byte(rangeText(d.src, attr.Expr.Range())))
	}
	given := b.variableValue(wanted)
	if given == nil {
		return cty.DynamicVal
	}
	v.Source = given.source
	value := given.value
	if defaults != nil && !value.IsNull() {
		value = defaults.Apply(value)
	}
	value, err := convert.Convert(value, wanted)
	if err != nil {
		f := given.at
		f.code, f.summary, f.unshown = "wrong-type", "Wrong type", v.Sensitive
		f.detail = fmt.Sprintf("The value of var.%s, from %s, must be %s: %s.", d.name(), given.source, v.Type, convertReason(err, v.Sensitive))
		b.fail(f)
		return cty.DynamicVal
	}
	if err := funcs.CheckSize(value); err != nil {
		f := given.at
		f.code, f.summary, f.unshown = "too-large", "Value too large", v.Sensitive
		f.detail = fmt.Sprintf("The value of var.%s, from %s, cannot be used: %v.", d.name(), given.source, err)
		b.fail(f)
		return cty.DynamicVal
	}
	v.Value = valueText(value)
	if v.Sensitive {
		v.Value = maskedText
		l.keepSecret(value)
		value = value.Mark(secretMark("var." + d.name()))
	}
	b.validate(value, given)
	d.made = v
	return value
}

// convertReason returns a conversion error, without parts of a sensitive value.
func convertReason(err error, sensitive bool) string {
	if sensitive {
		return "it is not"
	}
	if path, ok := err.(cty.PathError); ok && len(path.Path) > 0 {
		return fmt.Sprintf("at one element %v", err)
	}
	return err.Error()
}

// validate checks the validation blocks; the variable itself is in scope.
func (b *block) validate(value cty.Value, given *outsideValue) {
	own := map[string]cty.Value{}
	if siblings, ok := b.ctx.Variables["var"]; ok {
		own = siblings.AsValueMap()
	}
	if own == nil {
		own = map[string]cty.Value{}
	}
	own[b.label()] = value
	variables := maps.Clone(b.ctx.Variables)
	variables["var"] = cty.ObjectVal(own)
	for _, rule := range b.children("validation") {
		rule.ctx = &hcl.EvalContext{Variables: variables, Functions: b.ctx.Functions}
		ok, g := rule.truth("condition")
		message, said := rule.text("error_message")
		if g != isSet || ok || said != isSet {
			continue
		}
		f := rule.at("condition")
		f.code, f.summary = "invalid-value", "Invalid value of a variable"
		f.detail = fmt.Sprintf("var.%s, from %s: %s", b.label(), given.source, strings.TrimSpace(message))
		rule.fail(f)
	}
}
