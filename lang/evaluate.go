package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
)

// instances are the things that references stand for, by the ref attribute
// of their value: "problem.scbench[\"a\"]".
type instances struct {
	problems  map[string]*Problem
	solutions map[string]*Solution
	backends  map[string]*Backend
	suites    map[string]*Suite
	values    map[string]cty.Value
}

func newInstances() instances {
	return instances{
		problems:  map[string]*Problem{},
		solutions: map[string]*Solution{},
		backends:  map[string]*Backend{},
		suites:    map[string]*Suite{},
		values:    map[string]cty.Value{},
	}
}

// evaluate gives a declaration its value and what it adds to the Config.
func (l *loader) evaluate(d *decl) {
	value := cty.DynamicVal
	switch d.kind {
	case "fevalgraph":
		l.evaluateSettings(d)
	case "variable":
		value = l.evaluateVariable(d)
	case "local":
		b := &block{l: l, src: d.src, decl: d, ctx: l.scope(d), header: d.header}
		value, _ = b.evaluate(d.attr.Expr)
	case "pool":
		value = l.evaluatePool(d)
	case "secret":
		value = l.evaluateSecret(d)
	case "backend":
		value = l.evaluateBackend(d)
	case "problem":
		value = l.evaluateProblem(d)
	case "solution":
		value = l.evaluateSolution(d)
	case "suite":
		value = l.evaluateSuite(d)
	case "result":
		l.evaluateResult(d)
	case "export":
		l.evaluateExport(d)
	}
	if !d.failed {
		d.value = value
	}
}

// silenceFunctions makes functions that have a mistake of their own return
// unknown, so that their callers stay silent.
func (l *loader) silenceFunctions() {
	for _, d := range l.decls {
		if d.kind != "function" || !d.failed {
			continue
		}
		if _, made := l.functions[d.name()]; made {
			l.functions[d.name()] = function.New(&function.Spec{
				VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
				Type:     function.StaticReturnType(cty.DynamicPseudoType),
				Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
			})
		}
	}
}

// instance is one element of a for_each, or the only one of a block without.
type instance struct {
	key  string
	each bool
	ctx  *hcl.EvalContext
}

// name is the default name of an instance of d.
func (i instance) name(d *decl) string {
	if !i.each {
		return d.name()
	}
	return fmt.Sprintf("%s[%q]", d.name(), i.key)
}

// ref is the reference to an instance of d.
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
		b.reject("for_each", "wrong-type", "Wrong type", "for_each must not be null.", "an empty list or map makes no instance")
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
			b.reject("for_each", "bad-key", "Bad key", fmt.Sprintf("Every key of for_each must be a text of its own; %s is not.", valueText(key)), "")
			return nil
		}
		seen[key.AsString()] = true
		child := ctx.NewChild()
		child.Variables = map[string]cty.Value{"each": cty.ObjectVal(map[string]cty.Value{"key": key, "value": value})}
		found = append(found, instance{key: key.AsString(), each: true, ctx: child})
	}
	return found
}

// collect is the value of a declaration: that of its only instance, or a map
// of them.
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
