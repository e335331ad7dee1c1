package selection

import (
	"slices"
	"strings"
	"sync"
)

// referenceAxes lists the axes that references of the language, such as suite.nightly, can name.
var referenceAxes = []string{"problem", "solution", "backend", "suite"}

// Expander returns a function that expands names and references in terms: the name of a solution that is unique
// becomes solution=NAME, solution.NAME and similar references become solution=NAME, and task.NAME becomes
// task:NAME, or task:NAME[* for all of its instances. Addresses begin with problems, so names of problems stay. It
// calls known at most once, and only if a term could be one of these.
func Expander(known func() Known) func(term string) string {
	names := sync.OnceValue(known)
	return func(term string) string {
		if !NamesCells(term) {
			return term
		}
		if expanded, ok := reference(names, term); ok {
			return expanded
		}
		if !strings.ContainsAny(term, `/@*?[\`) && names().isUnique("solution", term) {
			return "solution=" + term
		}
		return term
	}
}

// reference expands a reference of the language, with or without the key of an instance.
func reference(names func() Known, term string) (string, bool) {
	axis, name, found := strings.Cut(term, ".")
	if !found || axis != "task" && !slices.Contains(referenceAxes, axis) {
		return "", false
	}
	base, _, hasKey := strings.Cut(name, "[")
	if strings.ContainsAny(base, `/@*?\`) {
		return "", false
	}
	prefix, instances := axis+"=", "" // a condition on an axis matches all instances of a block
	if axis == "task" {
		prefix, instances = "task:", "[*"
	}
	for known := range names()[axis] {
		if unquoted(known) == unquoted(name) {
			return prefix + known, true
		}
		if instance, _, isInstance := strings.Cut(known, "["); isInstance && instance == base && !hasKey {
			return prefix + name + instances, true
		}
	}
	return "", false
}

// unquoted returns a name without the optional quotes of an instance's key.
func unquoted(name string) string { return strings.ReplaceAll(name, `"`, "") }

// isUnique reports whether a name is a value of this axis alone.
func (k Known) isUnique(axis, name string) bool {
	for of, names := range k {
		if of != axis && of != "task" && names[name] {
			return false
		}
	}
	return k[axis][name]
}
