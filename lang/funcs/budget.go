package funcs

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Names of functions that expressions cannot call: the language inserts calls of them into expressions.
// See Budget.Guards.
const (
	GuardLoop   = "loop over" // of a collection, with the cost of an iteration
	GuardValue  = "value of"  // of a part of a text, or of a number that was calculated
	GuardNumber = "number of" // of a value that is converted to a number
)

// IsGuard reports whether a function is a guard, by its name.
func IsGuard(name string) bool { return name == GuardLoop || name == GuardValue || name == GuardNumber }

// Bounds on the work of one load. Configurations with thousands of solutions need a tenth.
const (
	maxSteps = 5_000_000 // parts of expressions, in iterations of loops
	maxText  = 128 << 20 // bytes of texts that templates or functions return
)

// Budget is the remaining budget for the expressions of one load. It is safe for concurrent use.
type Budget struct{ steps, text atomic.Int64 }

// Exceeded returns an error if the budget is used up: then values are missing, even if the errors of the
// guards were dropped.
func (b *Budget) Exceeded() error {
	switch {
	case b.steps.Load() > maxSteps:
		return fmt.Errorf("its loops evaluate more than %d parts of expressions", maxSteps)
	case b.text.Load() > maxText:
		return fmt.Errorf("it builds more than %d MiB of text", maxText>>20)
	}
	return nil
}

// spend adds to the used budget. It returns an error if that exceeds the maximum.
func (b *Budget) spend(steps, text int64) error {
	b.steps.Add(steps)
	b.text.Add(text)
	return b.Exceeded()
}

// Guards returns the guards of expressions, which return their argument. The first call beyond the budget
// fails; later calls return unknown values, so that running loops end without a million errors.
func (b *Budget) Guards() map[string]function.Function {
	any := function.Parameter{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true, AllowMarked: true}
	guard := func(check func(v cty.Value, args []cty.Value) error, params ...function.Parameter) function.Function {
		return function.New(&function.Spec{
			Params: append([]function.Parameter{any}, params...),
			Type:   func([]cty.Value) (cty.Type, error) { return cty.DynamicPseudoType, nil },
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				if b.Exceeded() != nil {
					return cty.DynamicVal, nil
				}
				if v, _ := args[0].Unmark(); v.IsKnown() && !v.IsNull() {
					if err := check(v, args); err != nil {
						return cty.DynamicVal, err
					}
				}
				return args[0], nil
			},
		})
	}
	return map[string]function.Function{
		GuardLoop: guard(func(v cty.Value, args []cty.Value) error {
			if !v.CanIterateElements() {
				return nil // the loop reports it
			}
			weight, _ := args[1].AsBigFloat().Int64()
			return b.spend(int64(v.LengthInt())*weight, 0)
		}, function.Parameter{Name: "weight", Type: cty.Number}),
		GuardValue: guard(func(v cty.Value, _ []cty.Value) error {
			if !v.Type().IsPrimitiveType() {
				return nil
			}
			return errors.Join(CheckSize(v), b.spend(0, textSize(v)))
		}),
		GuardNumber: guard(func(v cty.Value, _ []cty.Value) error { return checkNumberText(v) }),
	}
}

func textSize(v cty.Value) int64 {
	if v, _ = v.Unmark(); v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
		return int64(len(v.AsString()))
	}
	return 0
}

var hugeNumber = lazyregexp.New(`^\s*[-+]?[0-9.]*[eEpP][-+]?0*[0-9]{5,}\s*$`)

// checkNumberText returns an error for a text that would become a number that cannot be printed.
func checkNumberText(v cty.Value) error {
	if v.Type() == cty.String && v.IsKnown() && !v.IsNull() && (hugeNumber().MatchString(v.AsString()) || len(v.AsString()) > maxBits) {
		return fmt.Errorf("the number is out of range: exponents go up to %d", MaxExponent)
	}
	return nil
}

// Charged returns a function whose calls and results use up the budget. It does not panic.
func (b *Budget) Charged(f function.Function) function.Function {
	f = WithoutPanics(f)
	spec := &function.Spec{Description: f.Description(), Params: f.Params(), VarParam: f.VarParam()}
	spec.Type = func(args []cty.Value) (cty.Type, error) {
		if err := b.spend(1, 0); err != nil {
			return cty.DynamicPseudoType, err
		}
		return f.ReturnTypeForValues(args)
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, err := f.Call(args)
		if err == nil && v.Type().IsPrimitiveType() {
			err = CheckSize(v)
		}
		if err == nil {
			err = b.spend(1, textSize(v))
		}
		return v, err
	}
	return function.New(spec)
}
