package funcs

import (
	"errors"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// foldBool returns a function that reduces a list of booleans to one; an element equal to decisive decides
// it. Null counts as false.
func foldBool(description string, decisive bool) function.Function {
	return function.New(&function.Spec{
		Description: description,
		Params:      []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:        function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			unknown := false
			for _, v := range args[0].AsValueSlice() {
				switch {
				case !v.IsKnown():
					unknown = true
				case (!v.IsNull() && v.True()) == decisive:
					return cty.BoolVal(decisive), nil
				}
			}
			if unknown {
				return cty.UnknownVal(cty.Bool), nil
			}
			return cty.BoolVal(!decisive), nil
		},
	})
}

var (
	allTrueFunc = foldBool("Whether every element is true; true for an empty list.", false)
	anyTrueFunc = foldBool("Whether any element is true; false for an empty list.", true)

	sumFunc = function.New(&function.Spec{
		Description: "Sum of a list of numbers; 0 for an empty list.",
		Params:      []function.Parameter{{Name: "list", Type: cty.List(cty.Number)}},
		Type:        function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			total := cty.Zero
			for _, v := range args[0].AsValueSlice() {
				if v.IsNull() {
					return cty.UnknownVal(cty.Number), function.NewArgErrorf(0, "an element is null")
				}
				total = total.Add(v)
			}
			return total, nil
		},
	})

	// lengthFunc counts characters of a string as users see them, elements of other values.
	lengthFunc = function.New(&function.Spec{
		Description: "Number of elements of a collection, or of characters of a string.",
		Params:      []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
		Type:        function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v := args[0]
			switch {
			case v.Type() == cty.String:
				return stdlib.Strlen(v)
			case v.CanIterateElements():
				return v.Length(), nil
			}
			return cty.UnknownVal(cty.Number), function.NewArgErrorf(0, "must be a collection or a string")
		},
	})

	oneFunc = function.New(&function.Spec{
		Description: "The only element of a collection; null when it is empty.",
		Params:      []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type: func(args []cty.Value) (cty.Type, error) {
			return cty.DynamicPseudoType, nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v := args[0]
			if t := v.Type(); !t.IsListType() && !t.IsSetType() && !t.IsTupleType() {
				return cty.DynamicVal, function.NewArgErrorf(0, "must be a list or set")
			}
			switch v.LengthInt() {
			case 0:
				return cty.NullVal(cty.DynamicPseudoType), nil
			case 1:
				return v.AsValueSlice()[0], nil
			}
			return cty.DynamicVal, function.NewArgError(0, errors.New("it has more than one element"))
		},
	})
)
