package funcs

import (
	"errors"
	"fmt"
	"math/big"

	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/fevalgraph/fevalgraph/internal/lazyregexp"
)

// Limits on values. No configuration needs more, and larger values would exhaust memory or never end.
const (
	MaxExponent = 1000      // decimal, of numbers
	maxBits     = 4096      // binary exponent of a number, which is more than MaxExponent
	maxBytes    = 32 << 20  // of a value: its strings, and elementSize for each element
	maxProduct  = 1_000_000 // elements of setproduct
	maxWidth    = 10_000    // of indent and format
	elementSize = 64
)

// CheckSize returns an error for a value that is too large: a number that cannot be printed, or more than
// maxBytes. It examines at most that much.
func CheckSize(v cty.Value) error {
	left := maxBytes
	return checkSize(v, &left)
}

func checkSize(v cty.Value, left *int) error {
	v, _ = v.Unmark()
	size := elementSize
	if v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
		size += len(v.AsString())
	}
	if *left -= size; *left < 0 {
		return fmt.Errorf("the value is larger than %d MiB", maxBytes>>20)
	}
	if !v.IsKnown() || v.IsNull() {
		return nil
	}
	switch t := v.Type(); {
	case t == cty.Number:
		if n := v.AsBigFloat(); !n.IsInf() && n.Sign() != 0 {
			if exponent := n.MantExp(new(big.Float)); max(exponent, -exponent) > maxBits {
				return fmt.Errorf("the number is out of range: exponents go up to %d", MaxExponent)
			}
		}
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			_, element := it.Element()
			if err := checkSize(element, left); err != nil {
				return err
			}
		}
	}
	return nil
}

// bounded maps functions whose results can be much larger than their arguments, or that take
// numbers of any size, to checks of their known arguments.
var bounded = map[string]func(args []cty.Value) error{
	"setproduct": func(args []cty.Value) error {
		product := 1
		for _, a := range args {
			if a.CanIterateElements() {
				product *= max(1, a.LengthInt())
			}
			if product > maxProduct {
				return fmt.Errorf("the product has more than %d elements", maxProduct)
			}
		}
		return nil
	},
	"indent": func(args []cty.Value) error {
		if n, _ := args[0].AsBigFloat().Int64(); n < 0 || n > maxWidth {
			return function.NewArgErrorf(0, "must be between 0 and %d", maxWidth)
		} else if int(n)*(1+strings.Count(args[1].AsString(), "\n")) > maxBytes {
			return errTooLong
		}
		return nil
	},
	"format":     checkFormat,
	"formatlist": checkFormat,
	"join": func(args []cty.Value) error {
		elements := 0
		for _, a := range args[1:] {
			if a.CanIterateElements() {
				elements += a.LengthInt()
			}
		}
		return product(len(args[0].AsString()), elements)
	},
	"replace": func(args []cty.Value) error {
		return product(len(args[2].AsString()), replaced(args[0].AsString(), args[1].AsString()))
	},
	"regexreplace": func(args []cty.Value) error {
		return product(len(args[2].AsString()), replaced(args[0].AsString(), ""))
	},
	"parseint": func(args []cty.Value) error {
		if args[0].Type() == cty.String && len(args[0].AsString()) > MaxExponent {
			return function.NewArgErrorf(0, "has more than %d digits", MaxExponent)
		}
		return nil
	},
	"jsondecode": nil, "yamldecode": nil, "tonumber": nil, "sum": nil, "pow": nil,
}

var errTooLong = errors.New("the result is larger than 32 MiB")

func product(size, times int) error {
	if times > 0 && size > maxBytes/times {
		return errTooLong
	}
	return nil
}

// replaced returns the maximum number of replacements in a text. A pattern can match between any
// two letters.
func replaced(text, part string) int {
	if part == "" || len(part) > 1 && part[0] == '/' && part[len(part)-1] == '/' {
		return len(text) + 1
	}
	return strings.Count(text, part)
}

var wide = lazyregexp.New(`%[^%a-zA-Z]*[0-9]{5,}`)

func checkFormat(args []cty.Value) error {
	for _, a := range args[1:] {
		if err := checkNumberText(a); err != nil {
			return err
		}
	}
	if wide().MatchString(args[0].AsString()) {
		return function.NewArgErrorf(0, "has a width above %d", maxWidth)
	}
	return nil
}

// within returns a function that checks its arguments and its result.
func within(f function.Function, check func(args []cty.Value) error) function.Function {
	return function.New(&function.Spec{
		Description: f.Description(),
		Params:      f.Params(),
		VarParam:    f.VarParam(),
		Type:        f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if check != nil && allKnown(args) {
				if err := check(args); err != nil {
					return cty.DynamicVal, err
				}
			}
			v, err := f.Call(args)
			if err == nil {
				err = CheckSize(v)
			}
			return v, err
		},
	})
}

func allKnown(args []cty.Value) bool {
	for _, a := range args {
		if !a.IsKnown() || a.IsNull() || a.IsMarked() {
			return false
		}
	}
	return true
}
