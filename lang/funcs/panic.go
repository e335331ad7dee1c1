package funcs

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

var (
	errNotANumber = errors.New("the result is not a number")
	errNoResult   = errors.New("no result for these values")
)

// WithoutPanics returns f with errors for users where the library panics, as it does for numbers that have no
// result: log(-1, 10), or a remainder of infinity. The library's own errors contain a stack.
func WithoutPanics(f function.Function) function.Function {
	spec := &function.Spec{Description: f.Description(), Params: f.Params(), VarParam: f.VarParam()}
	spec.Type = func(args []cty.Value) (cty.Type, error) {
		t, err := f.ReturnTypeForValues(args)
		return t, explainPanic(err)
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, err := f.Call(args)
		return v, explainPanic(err)
	}
	return function.New(spec)
}

// explainPanic replaces the error of a function that panicked, and returns other errors.
func explainPanic(err error) error {
	var panicked function.PanicError
	if !errors.As(err, &panicked) {
		return err
	}
	switch panicked.Value.(type) {
	case big.ErrNaN:
		return errNotANumber
	case string:
		return fmt.Errorf("no result for these values: %s", panicked.Value)
	}
	return errNoResult
}
