package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// references collects the dependencies of an expression besides its text: one line "reference = value" for
// each reference, and for each function of the configuration its definition and its own dependencies. It
// omits names that are not in scope, such as self.
//
// Sensitive values have no line. If such a value comes from a local, the local's expression has a line
// instead, so that the text around a secret counts.
type references struct {
	l       *loader
	within  *decl // whose locals can be referred to; nil outside of a block
	lines   []string
	secret  string // names of the last sensitive value that was met
	unknown bool   // a value is missing because of an error elsewhere
	seen    []string
}

func (r *references) visit(expr hclsyntax.Expression, src *source, ctx *hcl.EvalContext) {
	for _, t := range expr.Variables() {
		v, problems := t.TraverseAbs(ctx)
		if problems.HasErrors() { // self, a parameter, or an error that evaluation reports
			continue
		}
		plain, marks := v.UnmarkDeep()
		switch name := secretName(marks); {
		case name != "":
			r.secret = name
			r.visitLocal(t)
		case !plain.IsWhollyKnown():
			r.unknown = true
		default:
			r.lines = append(r.lines, canonicalText([]byte(rangeText(src, t.SourceRange())))+" = "+valueText(plain))
		}
	}
	for _, call := range calls(expr) {
		r.visitFunction(call.Name)
	}
}

// visitLocal follows a reference to a local that holds a secret.
func (r *references) visitLocal(t hcl.Traversal) {
	name, _ := stepName(t, 1)
	if t.RootName() != "local" {
		return
	}
	if own := r.within.ownLocal(name); own != nil {
		r.visitText(own, r.within.attempt.scope)
		return
	}
	if d := r.l.byAddr["local."+name]; d != nil {
		r.outside(func() { r.visitText(d, r.l.scope(d)) })
	}
}

// visitText adds the expression of a local and the references in it.
func (r *references) visitText(d *decl, scope *hcl.EvalContext) {
	if r.first(d) {
		r.lines = append(r.lines, d.addr()+" = "+canonicalText([]byte(rangeText(d.src, d.attr.Expr.Range()))))
		r.visit(d.attr.Expr, d.src, scope)
	}
}

func (r *references) visitFunction(name string) {
	d := r.l.byAddr["function."+name]
	if d == nil || !r.first(d) {
		return
	}
	result := d.block.Body.Attributes["result"].Expr
	r.lines = append(r.lines, fmt.Sprintf("function %s(%s) = %s", name, strings.Join(functionParams(d), ", "),
		canonicalText([]byte(rangeText(d.src, result.Range())))))
	r.outside(func() { r.visit(result, d.src, r.l.scope(d)) })
}

// outside visits references outside of the block that contains the expression.
func (r *references) outside(visit func()) {
	within := r.within
	r.within = nil
	visit()
	r.within = within
}

// first reports whether d is visited for the first time.
func (r *references) first(d *decl) bool {
	if slices.Contains(r.seen, d.addr()) {
		return false
	}
	r.seen = append(r.seen, d.addr())
	return true
}

// sortedLines returns the distinct lines, sorted.
func (r *references) sortedLines() []string {
	lines := slices.Clone(r.lines)
	slices.Sort(lines)
	return slices.Compact(lines)
}

// secretShape returns the text that represents an environment variable with a secret in a key: the secret's
// name if the value is exactly that secret, and otherwise also the expression that makes the value, so that
// a change of the text around a secret changes the key.
func (b *block) secretShape(attr *hclsyntax.Attribute, name, value, secrets string) string {
	if d := b.l.secretDecl(secrets); d != nil {
		if own, _ := d.value.Unmark(); own.IsWhollyKnown() && own.Type() == cty.String && !own.IsNull() && own.AsString() == value {
			return secrets
		}
	}
	expr := attr.Expr
	if object, ok := expr.(*hclsyntax.ObjectConsExpr); ok {
		for _, item := range object.Items {
			if key, problems := item.KeyExpr.Value(b.ctx); !problems.HasErrors() && key.RawEquals(cty.StringVal(name)) {
				expr = item.ValueExpr
			}
		}
	}
	refs := references{l: b.l, within: b.decl}
	refs.visit(expr, b.src, b.ctx)
	text := canonicalText([]byte(rangeText(b.src, expr.Range())))
	return secrets + " in " + strings.Join(append([]string{text}, refs.sortedLines()...), "; ")
}

// secretDecl returns the declaration behind a single secret's name.
func (l *loader) secretDecl(name string) *decl {
	if variable, found := strings.CutPrefix(name, "var."); found {
		return l.byAddr["variable."+variable]
	}
	return l.byAddr["secret."+name]
}
