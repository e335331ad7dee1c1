package lang

import (
	"fmt"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Locals of a block are values of each of its instances. They are not declarations of the configuration:
// nothing outside of the block can refer to them, and they have a separate order of evaluation.

// declareOwn collects the locals that d declares in its block.
func (l *loader) declareOwn(d *decl) {
	if d.block == nil || d.schema.Block("locals") == nil {
		return
	}
	named := map[string]*decl{}
	for _, b := range d.block.Body.Blocks {
		if b.Type != "locals" || len(b.Labels) > 0 {
			continue
		}
		for _, attr := range sortedAttributes(b.Body.Attributes) {
			own := &decl{kind: "local", path: []string{attr.Name}, src: d.src, attr: attr, header: attr.NameRange, value: cty.DynamicVal}
			if first := named[attr.Name]; first != nil {
				l.duplicate(own, first)
				d.failed = true
				continue
			}
			if other := l.byAddr[own.addr()]; other != nil {
				l.report(finding{
					code: "duplicate", summary: "Duplicate local", rng: own.header,
					detail: fmt.Sprintf("%s is declared at %s for the whole configuration, and here for %s.", own.addr(), place(other.header), d.title()),
					hint:   "give one of them another name",
				})
				d.failed = true
			}
			named[attr.Name] = own
			d.own = append(d.own, own)
		}
	}
}

// ownLocal returns the local that d declares within its block, or nil.
func (d *decl) ownLocal(name string) *decl {
	if d == nil {
		return nil
	}
	for _, own := range d.own {
		if own.name() == name {
			return own
		}
	}
	return nil
}

// resolveOwn resolves a reference to locals of d's own block; it returns false if the reference has other
// targets as well or instead.
func (l *loader) resolveOwn(d *decl, t hcl.Traversal, n names, f *finding) (bool, *finding) {
	name, rng := stepName(t, 1)
	own := d.ownLocal(name)
	switch {
	case own != nil && !n.own:
		f.rng = hcl.RangeBetween(t[0].SourceRange(), rng)
		f.detail = fmt.Sprintf("local.%s, declared at %s, is a value of each instance, but this is evaluated before instances exist.", name, place(own.header))
		return true, f
	case own != nil:
		l.use(d.src, own, t, 1)
	}
	switch {
	case !n.own || n.from == nil:
	case own != nil:
		n.from.needs = append(n.from.needs, need{own, t.SourceRange()})
	case name == "": // keys(local) needs all locals
		for _, other := range d.own {
			n.from.needs = append(n.from.needs, need{other, t.SourceRange()})
		}
	}
	return own != nil, nil
}

// evaluateOwn evaluates the locals of an instance and returns a scope with them. A local with an error is
// unknown there, and references to it stay silent.
func (l *loader) evaluateOwn(d *decl, scope *hcl.EvalContext) *hcl.EvalContext {
	if len(d.own) == 0 {
		return scope
	}
	values := map[string]cty.Value{}
	for at := scope; at != nil; at = at.Parent() {
		if outer, found := at.Variables["local"]; found {
			maps.Copy(values, outer.AsValueMap())
		}
	}
	inner := scope.NewChild()
	inner.Variables = map[string]cty.Value{}
	for _, own := range d.own {
		inner.Variables["local"] = cty.ObjectVal(values)
		b := &block{l: l, src: d.src, decl: d, ctx: inner, header: own.header}
		values[own.name()] = cty.DynamicVal
		if own.failed { // it is part of a cycle
			d.failed = true
		} else if v, ok := b.evaluate(own.attr.Expr); ok {
			values[own.name()] = v
		}
	}
	inner.Variables["local"] = cty.ObjectVal(values)
	return inner
}
