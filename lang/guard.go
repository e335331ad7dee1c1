package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/fevalgraph/fevalgraph/lang/funcs"
)

// The library's evaluator has no limits: a short expression can loop for ever, or build a text larger than
// memory. So expressions are rewritten after parsing: the collections of loops, the parts of templates and
// the operands of calculations pass through functions that configurations cannot name, and that use up the
// budget of the load.

// guard guards the expressions of a body.
func guard(body *hclsyntax.Body) {
	for _, a := range body.Attributes {
		a.Expr = guardExpr(a.Expr)
	}
	for _, b := range body.Blocks {
		guard(b.Body)
	}
}

// guardExpr returns the expression with its guarded parts wrapped in calls.
func guardExpr(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.ForExpr:
		weight := iteration + weightOf(e.KeyExpr) + weightOf(e.ValExpr) + weightOf(e.CondExpr)
		e.CollExpr = guardLoop(e.CollExpr, weight)
		e.KeyExpr, e.ValExpr, e.CondExpr = guardExpr(e.KeyExpr), guardExpr(e.ValExpr), guardExpr(e.CondExpr)
	case *hclsyntax.TemplateExpr:
		for i, part := range e.Parts {
			if _, literal := part.(*hclsyntax.LiteralValueExpr); !literal {
				e.Parts[i] = guardCall(funcs.GuardValue, guardExpr(part))
			}
		}
	case *hclsyntax.BinaryOpExpr:
		e.Op = guardOperation(e.Op)
		e.LHS, e.RHS = guardExpr(e.LHS), guardExpr(e.RHS)
		if e.Op.Type == cty.Number {
			e.LHS, e.RHS = guardNumber(e.LHS), guardNumber(e.RHS)
			return guardCall(funcs.GuardValue, e)
		}
	case *hclsyntax.UnaryOpExpr:
		e.Op = guardOperation(e.Op)
		e.Val = guardExpr(e.Val)
		if e.Op.Type == cty.Number {
			e.Val = guardNumber(e.Val)
		}
	case *hclsyntax.ConditionalExpr:
		e.Condition, e.TrueResult, e.FalseResult = guardExpr(e.Condition), guardExpr(e.TrueResult), guardExpr(e.FalseResult)
	case *hclsyntax.IndexExpr:
		e.Collection, e.Key = guardExpr(e.Collection), guardExpr(e.Key)
	case *hclsyntax.TupleConsExpr:
		guardAll(e.Exprs)
	case *hclsyntax.ObjectConsExpr:
		for i := range e.Items {
			e.Items[i].KeyExpr, e.Items[i].ValueExpr = guardExpr(e.Items[i].KeyExpr), guardExpr(e.Items[i].ValueExpr)
		}
	case *hclsyntax.ObjectConsKeyExpr:
		e.Wrapped = guardExpr(e.Wrapped)
	case *hclsyntax.SplatExpr:
		e.Source, e.Each = guardLoop(e.Source, 1), guardExpr(e.Each)
	case *hclsyntax.FunctionCallExpr:
		guardAll(e.Args)
	case *hclsyntax.TemplateWrapExpr:
		e.Wrapped = guardExpr(e.Wrapped)
	case *hclsyntax.TemplateJoinExpr:
		e.Tuple = guardExpr(e.Tuple)
	case *hclsyntax.ParenthesesExpr:
		e.Expression = guardExpr(e.Expression)
	case *hclsyntax.RelativeTraversalExpr:
		e.Source = guardExpr(e.Source)
	}
	return e
}

func guardAll(all []hclsyntax.Expression) {
	for i := range all {
		all[i] = guardExpr(all[i])
	}
}

// guardLoop guards the collection of a loop; weight is the cost of an iteration.
func guardLoop(over hclsyntax.Expression, weight int) hclsyntax.Expression {
	return guardCall(funcs.GuardLoop, guardExpr(over), &hclsyntax.LiteralValueExpr{Val: cty.NumberIntVal(int64(weight)), SrcRange: over.Range()})
}

func guardNumber(e hclsyntax.Expression) hclsyntax.Expression {
	if literal, ok := e.(*hclsyntax.LiteralValueExpr); ok && literal.Val.Type() == cty.Number {
		return e // see checkBounds
	}
	return guardCall(funcs.GuardNumber, e)
}

// guardOperation returns an operator that does not panic.
func guardOperation(op *hclsyntax.Operation) *hclsyntax.Operation {
	guarded := *op
	guarded.Impl = funcs.WithoutPanics(op.Impl)
	return &guarded
}

// iteration is the fixed cost of an iteration, in parts of expressions.
const iteration = 8

// guardCall returns a call with the range of its first argument, so that its errors have this position.
func guardCall(name string, args ...hclsyntax.Expression) hclsyntax.Expression {
	rng := args[0].Range()
	return &hclsyntax.FunctionCallExpr{Name: name, Args: args, NameRange: rng, OpenParenRange: rng, CloseParenRange: rng}
}

// weightOf counts the evaluated parts of an expression, without its loops, which are charged separately.
func weightOf(e hclsyntax.Expression) int {
	if e == nil {
		return 0
	}
	w := weigher{}
	_ = hclsyntax.Walk(e, &w)
	return w.nodes
}

type weigher struct{ nodes, loops int }

func (w *weigher) Enter(n hclsyntax.Node) hcl.Diagnostics {
	if _, loop := n.(*hclsyntax.ForExpr); loop {
		w.loops++
	}
	if w.loops == 0 {
		w.nodes++
	}
	return nil
}

func (w *weigher) Exit(n hclsyntax.Node) hcl.Diagnostics {
	if _, loop := n.(*hclsyntax.ForExpr); loop {
		if w.loops--; w.loops == 0 {
			w.nodes++
		}
	}
	return nil
}
