package lang

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// fill reads attributes into the fields of target, a pointer to a struct, that have their names as hcl
// tags. The table's row determines how each is read. If the block does not have the attribute, as kinds of
// backends differ, the field is unchanged.
func (b *block) fill(target any) {
	v := reflect.ValueOf(target).Elem()
	for i := range v.NumField() {
		name, tagged := v.Type().Field(i).Tag.Lookup("hcl")
		if !tagged {
			continue
		}
		if a := b.schema.Attribute(name); a != nil {
			v.Field(i).Set(reflect.ValueOf(b.attribute(a, v.Field(i).Type())))
		}
	}
}

// attribute returns an attribute's value, or its default. It is zero if it has neither, or failed.
func (b *block) attribute(a *AttributeSchema, of reflect.Type) (made any) {
	switch {
	case a.Type == TypeText && a.Path && a.Form == nil:
		made, _ = b.path(a.Name)
	case a.Type == TypeText:
		made, _ = b.text(a.Name)
	case a.Type == TypeTexts, a.Type == TypeOneOrTexts:
		made, _ = b.texts(a.Name)
	case a.Type == TypeInteger:
		made, _ = b.integer(a.Name)
	case a.Type == TypeNumber:
		made, _ = b.number(a.Name)
	case a.Type == TypeSize:
		made, _ = b.size(a.Name)
	case a.Type == TypeBool:
		made, _ = b.truth(a.Name)
	case a.Type == TypeDuration:
		made, _ = b.duration(a.Name)
	case a.Type == TypeMap && of == reflect.TypeFor[[]EnvVar]():
		made, _ = b.env(a.Name)
	case a.Type == TypeMap:
		made = b.settings(a.Name)
	default:
		panic(fmt.Sprintf("lang: %s.%s, %s, cannot be read into a field", b.schema.Name, a.Name, a.Type))
	}
	return made
}

// readAs reads an attribute of one of types, or its default. as returns false after reporting an error.
func readAs[T any](b *block, name string, as func(a *AttributeSchema, v cty.Value, g presence) (T, bool), types ...AttributeType) (none T, g presence) {
	a := b.schemaOf(name, types...)
	v, g := b.value(a)
	switch {
	case g == isFailed, g != isSet && a.Default == "" && !(g == isNull && a.bounded):
		return none, g
	case g != isSet && a.Default != "":
		v = b.l.defaultOf(a)
	}
	made, ok := as(a, v, g)
	if !ok {
		return none, isFailed
	}
	return made, g
}

// text reads a string.
func (b *block) text(name string) (string, presence) {
	return readAs(b, name, func(a *AttributeSchema, v cty.Value, g presence) (string, bool) {
		s, err := convert.Convert(v, cty.String)
		switch {
		case err != nil && a.Type == TypeSource:
			b.wrongType(name, "a path, or a task's output such as task.data.outputs.cases", v.Type())
		case err != nil:
			b.wrongType(name, "a string", v.Type())
		case g != isSet:
			return s.AsString(), true
		default:
			return b.checkForm(a, s.AsString())
		}
		return "", false
	}, TypeText, TypeSource)
}

// checkForm checks a string against the table's values and form.
func (b *block) checkForm(a *AttributeSchema, s string) (string, bool) {
	if a.Values != nil && !slices.Contains(a.Values, s) {
		b.reject(a.Name, "unknown-value", "Unknown "+a.Name, fmt.Sprintf("No %s is named %q.", a.Name, s), didYouMean(s, a.Values, ""))
		return "", false
	}
	if a.Form != nil {
		return a.Form(b, a.Name, s)
	}
	return s, true
}

// texts reads a list of strings. If the table allows it, a single string means a list with one element.
func (b *block) texts(name string) ([]string, presence) {
	return readAs(b, name, func(a *AttributeSchema, v cty.Value, g presence) (texts []string, ok bool) {
		if a.Type == TypeOneOrTexts && v.Type() == cty.String {
			v = cty.ListVal([]cty.Value{v})
		}
		list, err := convert.Convert(v, cty.List(cty.String))
		if err != nil || list.IsNull() {
			b.wrongType(name, "a list of strings", v.Type())
			return nil, false
		}
		ok = true
		for _, e := range list.AsValueSlice() {
			if e.IsNull() {
				b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("An element of %s is null.", name), "")
				return nil, false
			}
			text, formed := e.AsString(), true
			if g == isSet {
				text, formed = b.checkForm(a, text)
			}
			texts, ok = append(texts, text), ok && formed
		}
		return texts, ok
	}, TypeTexts, TypeOneOrTexts)
}

// integer reads a whole number of at least 1, or 0 if the table allows it.
func (b *block) integer(name string) (int, presence) {
	return readAs(b, name, func(a *AttributeSchema, v cty.Value, g presence) (int, bool) {
		if g == isNull && a.Unlimited {
			return 0, true
		}
		least := 1
		if a.zero {
			least = 0
		}
		n, ok := b.wholeNumber(name, name, v)
		if ok && n < least {
			b.reject(name, "out-of-range", "Number out of range", fmt.Sprintf("%s must be at least %d, not %d.", name, least, n), "")
			return 0, false
		}
		return n, ok
	}, TypeInteger)
}

// integers reads a list of whole numbers between least and most.
func (b *block) integers(name string, least, most int) ([]int, presence) {
	return readAs(b, name, func(_ *AttributeSchema, v cty.Value, _ presence) (numbers []int, ok bool) {
		if t := v.Type(); !t.IsTupleType() && !t.IsListType() && !t.IsSetType() {
			b.wrongType(name, "a list of whole numbers", t)
			return nil, false
		}
		for _, e := range v.AsValueSlice() {
			n, ok := b.wholeNumber(name, "an element of "+name, e)
			if !ok {
				return nil, false
			}
			if n < least || n > most {
				b.reject(name, "out-of-range", "Number out of range", fmt.Sprintf("an element of %s must be between %d and %d, not %d.", name, least, most, n), "")
				return nil, false
			}
			numbers = append(numbers, n)
		}
		return numbers, true
	}, TypeIntegers)
}

// wholeNumber converts a value, or an element of one, to a whole number.
func (b *block) wholeNumber(name, what string, v cty.Value) (int, bool) {
	number, err := convert.Convert(v, cty.Number)
	if err != nil || number.IsNull() {
		b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("%s must be a whole number, not %s.", what, article(v.Type())), "")
		return 0, false
	}
	n, accuracy := number.AsBigFloat().Int64()
	if accuracy != big.Exact || int64(int(n)) != n {
		b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("%s must be a whole number, not %s.", what, valueText(number)), "")
		return 0, false
	}
	return int(n), true
}

// number reads a number above zero, or any if the table allows it.
func (b *block) number(name string) (float64, presence) {
	return readAs(b, name, func(a *AttributeSchema, v cty.Value, _ presence) (float64, bool) {
		n, err := convert.Convert(v, cty.Number)
		if err != nil {
			b.wrongType(name, "a number", v.Type())
			return 0, false
		}
		f, _ := n.AsBigFloat().Float64()
		if !a.zero && (!(f > 0) || math.IsInf(f, 0)) {
			b.reject(name, "out-of-range", "Number out of range", fmt.Sprintf("%s must be above 0, not %s.", name, valueText(n)), "")
			return 0, false
		}
		return f, true
	}, TypeNumber)
}

// size reads a number of bytes above zero.
func (b *block) size(name string) (int64, presence) {
	return readAs(b, name, func(_ *AttributeSchema, v cty.Value, _ presence) (int64, bool) {
		text, err := convert.Convert(v, cty.String)
		if err != nil {
			b.wrongType(name, `a size such as "512MiB"`, v.Type())
			return 0, false
		}
		n, err := ParseSize(text.AsString())
		if err == nil && n == 0 {
			err = fmt.Errorf("%q is zero", text.AsString())
		}
		if err != nil {
			b.reject(name, "bad-size", "Bad size", fmt.Sprintf("%s: %v.", name, err), "")
		}
		return n, err == nil
	}, TypeSize)
}

// truth reads a bool.
func (b *block) truth(name string) (bool, presence) {
	return readAs(b, name, func(_ *AttributeSchema, v cty.Value, _ presence) (bool, bool) {
		t, err := convert.Convert(v, cty.Bool)
		if err != nil {
			b.wrongType(name, "true or false", v.Type())
			return false, false
		}
		return t.True(), true
	}, TypeBool)
}

// duration reads a duration. Null means no limit. Zero is rejected unless the table allows it, because it
// could mean no limit or immediately.
func (b *block) duration(name string) (time.Duration, presence) {
	return readAs(b, name, func(a *AttributeSchema, v cty.Value, g presence) (d time.Duration, ok bool) {
		switch {
		case g == isNull && a.bounded:
			b.reject(name, "bad-duration", "Bad duration", fmt.Sprintf("%s must not be null: a limit is required.", name), "")
			return 0, false
		case g == isNull && !a.zero:
			return 0, true
		case v.Type() != cty.String && v.Type() != cty.Number:
			b.wrongType(name, "a duration such as \"20s\"", v.Type())
			return 0, false
		}
		text, _ := convert.Convert(v, cty.String)
		d, hint, err := parseDuration(text.AsString(), v.Type() == cty.Number)
		switch {
		case err != nil:
			b.reject(name, "bad-duration", "Bad duration", fmt.Sprintf("%s: %v.", name, err), hint)
			return 0, false
		case d == 0 && !a.zero:
			if hint = ""; !a.bounded {
				hint = "write " + name + " = null for no limit"
			}
			b.reject(name, "bad-duration", "Bad duration", fmt.Sprintf("%s must be longer than 0.", name), hint)
			return 0, false
		}
		return d, true
	}, TypeDuration)
}

// path reads a path and makes it absolute.
func (b *block) path(name string) (string, presence) {
	if a := b.schema.Attribute(name); a == nil || !a.Path {
		panic(fmt.Sprintf("lang: %s.%s is read as a path, which is not in the table", b.schema.Name, name))
	}
	s, g := b.text(name)
	if g != isSet {
		return "", g
	}
	s, ok := FormPath(b, name, s)
	if !ok {
		return "", isFailed
	}
	return s, isSet
}
