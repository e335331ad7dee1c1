package funcs

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// Numbers without a result are errors for users, in every function.
func TestNoFunctionPanics(t *testing.T) {
	inf := cty.PositiveInfinity
	numbers := []cty.Value{
		cty.Zero, cty.NumberIntVal(1), cty.NumberIntVal(-8), cty.NumberFloatVal(0.5), cty.NumberFloatVal(1e300), inf, cty.NegativeInfinity,
		cty.NullVal(cty.Number), cty.UnknownVal(cty.Number), cty.NullVal(cty.DynamicPseudoType), cty.DynamicVal, cty.StringVal("3"),
	}
	values := append([]cty.Value{
		cty.StringVal("%d"), cty.ListVal([]cty.Value{inf, cty.NegativeInfinity}), cty.EmptyTupleVal, cty.TupleVal([]cty.Value{cty.StringVal("a"), inf}),
		cty.SetVal([]cty.Value{inf, cty.Zero}), cty.ObjectVal(map[string]cty.Value{"a": inf}), cty.MapVal(map[string]cty.Value{"a": inf}),
	}, numbers...)
	var budget Budget
	ctx := &hcl.EvalContext{Functions: Library(Files{Dir: t.TempDir()})}
	for name, f := range ctx.Functions {
		ctx.Functions[name] = budget.Charged(f)
	}
	call := func(name string, args ...cty.Value) {
		e := &hclsyntax.FunctionCallExpr{Name: name}
		for _, v := range args {
			e.Args = append(e.Args, &hclsyntax.LiteralValueExpr{Val: v})
		}
		if _, problems := e.Value(ctx); strings.Contains(problems.Error(), "panic") || strings.Contains(problems.Error(), "runtime error") {
			t.Errorf("%s%#v: %v", name, args, problems)
		}
	}
	for name := range ctx.Functions {
		call(name)
		for _, a := range values {
			call(name, a)
			for _, b := range values {
				call(name, a, b)
			}
		}
		if !slices.Contains([]string{"range", "slice", "substr", "lookup", "max", "min", "format"}, name) {
			continue
		}
		for _, a := range values {
			for _, b := range numbers {
				for _, c := range numbers {
					call(name, a, b, c)
				}
			}
		}
	}
}

func TestErrorsWithoutResult(t *testing.T) {
	var budget Budget
	library := Library(Files{})
	for _, try := range []struct {
		function string
		args     []cty.Value
		want     string
	}{
		{"log", []cty.Value{cty.NumberIntVal(-1), cty.NumberIntVal(10)}, "the result is not a number"},
		{"log", []cty.Value{cty.NumberIntVal(1), cty.NumberIntVal(1)}, "the result is not a number"},
		{"pow", []cty.Value{cty.NumberIntVal(-8), cty.NumberFloatVal(0.5)}, "the result is not a number"},
		{"sum", []cty.Value{cty.ListVal([]cty.Value{cty.PositiveInfinity, cty.NegativeInfinity})}, "the result is not a number"},
		{"merge", []cty.Value{cty.NullVal(cty.DynamicPseudoType), cty.StringVal("a")}, "no result for these values: attempt to iterate on non-collection, non-tuple type"},
	} {
		if _, err := budget.Charged(library[try.function]).Call(try.args); err == nil || err.Error() != try.want {
			t.Errorf("%s: %v, want %s", try.function, err, try.want)
		}
	}
}
