package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// env reads a map of environment variables, sorted by name. A value that
// contains a secret also has the secret's name.
func (b *block) env(name string) ([]EnvVar, presence) {
	a := b.schemaOf(name, TypeMap)
	v, g := b.marked(a)
	if g != isSet {
		return nil, g
	}
	v, outer := v.Unmark()
	texts, err := convert.Convert(v, cty.Map(cty.String))
	if err != nil {
		b.wrongType(name, "a map of strings", v.Type())
		return nil, isFailed
	}
	texts, inner := texts.Unmark()
	var vars []EnvVar
	for it := texts.ElementIterator(); it.Next(); {
		key, value := it.Element()
		value, own := value.Unmark()
		switch {
		case value.IsNull():
			b.reject(name, "wrong-type", "Wrong type", fmt.Sprintf("%s.%s is null.", name, key.AsString()), `write "" for an empty value`)
			return nil, isFailed
		case !envName().MatchString(key.AsString()):
			b.reject(name, "bad-name", "Bad name", fmt.Sprintf("%q is not a valid name of an environment variable.", key.AsString()), "letters, digits and \"_\", not beginning with a digit")
			return nil, isFailed
		case strings.ContainsRune(value.AsString(), 0):
			b.reject(name, "bad-value", "Bad value", fmt.Sprintf("%s.%s contains a NUL.", name, key.AsString()), "")
			return nil, isFailed
		}
		made := EnvVar{Name: key.AsString(), Value: value.AsString()}
		if secrets := secretName(cty.NewValueMarks(marksOf(outer, inner, own)...)); secrets != "" {
			made.Secret = b.secretShape(b.attrs[name], made.Name, made.Value, secrets)
		}
		vars = append(vars, made)
	}
	return vars, isSet
}

func marksOf(sets ...cty.ValueMarks) []any {
	var all []any
	for _, s := range sets {
		for m := range s {
			all = append(all, m)
		}
	}
	return all
}

// mergeEnv merges over into base, both sorted by name.
func mergeEnv(base, over []EnvVar) []EnvVar {
	merged := slices.Clone(base)
	for _, v := range over {
		at, found := slices.BinarySearchFunc(merged, v, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
		if found {
			merged[at] = v
		} else {
			merged = slices.Insert(merged, at, v)
		}
	}
	return merged
}

// Setting is a name with a string value.
type Setting struct{ Name, Value string }

// stringMap reads a map of strings. It returns false if the map is absent or invalid.
func (b *block) stringMap(name string) (texts cty.Value, ok bool) {
	v, g := b.value(b.schemaOf(name, TypeMap))
	if g != isSet {
		return cty.NilVal, false
	}
	texts, err := convert.Convert(v, cty.Map(cty.String))
	if err != nil {
		b.wrongType(name, "a map of strings", v.Type())
	}
	return texts, err == nil
}

// settings reads a map of strings, sorted by name.
func (b *block) settings(name string) (all []Setting) {
	texts, ok := b.stringMap(name)
	if !ok {
		return nil
	}
	for it := texts.ElementIterator(); it.Next(); {
		key, value := it.Element()
		if value.IsNull() || strings.ContainsAny(value.AsString(), "\x00\r\n") {
			b.reject(name, "bad-value", "Bad value", fmt.Sprintf("%s[%q] is not a single line of text.", name, key.AsString()), "")
			return nil
		}
		all = append(all, Setting{key.AsString(), value.AsString()})
	}
	return all
}
