package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Evaluated is the value of an expression in one instance of its block.
type Evaluated struct {
	In    string // the instance, or its checkpoint: `each.key = "a"`; "" if there is only one
	Value string // as HCL text, sensitive parts masked
}

// expression is an expression of a file with the context for its evaluation.
type expression struct {
	d     *decl
	own   bool   // set for a local in a block
	scope string // as in AttributeSchema
	expr  hclsyntax.Expression
	whole hclsyntax.Expression // of the attribute
}

// Values evaluates the reference at a position, or else the whole attribute. It evaluates at most limit
// instances; total is the number of instances. It returns no values if they need results, or depend on an
// error.
func (a *Analysis) Values(file string, at, most int) (values []Evaluated, total int) {
	e := a.expressionAt(file, at)
	if e == nil || !a.whole || a.l.bad[e.whole.Range()] || slices.Contains([]string{"self", "cell", scopeStatic}, e.scope) {
		return nil, 0
	}
	scopes := a.l.scopesOf(e)
	for _, s := range scopes {
		if len(values) == most {
			break
		}
		if v, problems := e.expr.Value(s.ctx); !problems.HasErrors() && (v.IsMarked() || v.IsWhollyKnown()) {
			values = append(values, Evaluated{In: s.in, Value: valueText(v)})
		}
	}
	return values, len(scopes)
}

// expressionAt returns the expression at a position. It returns nil without one, or if an instance evaluates
// the expression several times.
func (a *Analysis) expressionAt(file string, at int) *expression {
	for _, d := range a.l.decls {
		if !d.span().covers(file, at) {
			continue
		}
		if d.attr != nil {
			return (&expression{d: d, whole: d.attr.Expr}).narrow(at)
		}
		for _, own := range d.own {
			if own.span().covers(file, at) {
				return (&expression{d: d, own: true, whole: own.attr.Expr}).narrow(at)
			}
		}
		if attr, scope := attributeAt(d.block.Body, d.schema, at); attr != nil {
			return (&expression{d: d, scope: scope, whole: attr.Expr}).narrow(at)
		}
	}
	return nil
}

// attributeAt finds the attribute at a byte of a body.
func attributeAt(body *hclsyntax.Body, schema *BlockSchema, at int) (*hclsyntax.Attribute, string) {
	for _, attr := range body.Attributes {
		if row := schema.Attribute(attr.Name); row != nil && attr.SrcRange.Start.Byte <= at && at <= attr.SrcRange.End.Byte {
			if row.Type == TypeNames || row.Type == TypeType {
				return nil, ""
			}
			return attr, row.Scope
		}
	}
	for _, b := range body.Blocks {
		if inner := schema.Block(b.Type); inner != nil && wholeBlock(b).Start.Byte <= at && at <= wholeBlock(b).End.Byte {
			return attributeAt(b.Body, inner, at)
		}
	}
	return nil, ""
}

// narrow reduces e to the reference at a byte, if there is one.
func (e *expression) narrow(at int) *expression {
	e.expr = e.whole
	_ = hclsyntax.VisitAll(e.whole, func(node hclsyntax.Node) hcl.Diagnostics {
		if ref, ok := node.(*hclsyntax.ScopeTraversalExpr); ok && ref.SrcRange.Start.Byte <= at && at <= ref.SrcRange.End.Byte {
			e.expr = ref
		}
		return nil
	})
	return e
}

// instanceScope is the scope of an instance.
type instanceScope struct {
	in  string
	ctx *hcl.EvalContext
}

// scopesOf returns the scopes in which an expression has a value. Errors there are reported elsewhere.
func (l *loader) scopesOf(e *expression) []instanceScope {
	if e.d.attr != nil || e.scope == scopeOutside {
		return []instanceScope{{ctx: l.scope(e.d)}}
	}
	quiet := e.d.forInstance(l.reporterFor(""))
	var all []instanceScope
	for _, inst := range l.expandEach(quiet) {
		s := instanceScope{ctx: l.evaluateOwn(quiet, inst.ctx)}
		if inst.each {
			s.in = fmt.Sprintf("each.key = %q", inst.key)
		}
		if e.scope != "checkpoint" {
			all = append(all, s)
			continue
		}
		for _, c := range l.checkpointsOf(quiet, inst) {
			ctx := s.ctx.NewChild()
			ctx.Variables = map[string]cty.Value{"checkpoint": checkpointValue(c)}
			in := s.in
			if c.Name != "" {
				if in != "" {
					in += ", "
				}
				in += fmt.Sprintf("checkpoint %q", c.Name)
			}
			all = append(all, instanceScope{in, ctx})
		}
	}
	return all
}

// checkpointsOf returns the checkpoints of a problem, or those that an instance of a solution answers.
func (l *loader) checkpointsOf(d *decl, inst instance) []*Checkpoint {
	if p := l.instances.problems[inst.ref(d)]; d.kind == "problem" && p != nil {
		return p.Checkpoints
	}
	attr := d.block.Body.Attributes["problem"]
	if d.kind != "solution" || attr == nil || l.bad[attr.Expr.Range()] {
		return nil
	}
	v, problems := attr.Expr.Value(inst.ctx)
	if problems.HasErrors() || !v.IsWhollyKnown() {
		return nil
	}
	v, _ = v.UnmarkDeep()
	if p := l.instances.problems[refOf(v)]; p != nil {
		return p.Checkpoints
	}
	return nil
}

// Keys returns the names that can follow a reference at a position, such as local.limits.
func (a *Analysis) Keys(reference, file string, at int) []string {
	expr, problems := parseExpression([]byte(reference), "")
	if problems.HasErrors() || !a.whole {
		return nil
	}
	for _, d := range a.l.decls {
		if !d.span().covers(file, at) {
			continue
		}
		seeing := *d // every declaration, since the reference is not written yet
		seeing.needs = slices.Clone(d.needs)
		for _, other := range a.l.decls {
			seeing.needs = append(seeing.needs, need{to: other})
		}
		for _, s := range a.l.scopesOf(&expression{d: &seeing, expr: expr}) {
			v, problems := expr.Value(s.ctx)
			if problems.HasErrors() {
				continue
			}
			v, _ = v.Unmark()
			return keysOf(v)
		}
	}
	return nil
}
