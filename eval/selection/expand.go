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
// task:NAME. Addresses begin with problems, so names of problems stay. It calls known at most once, and only if
// a term could be one of these.
func Expander(known func() Known) func(term string) string {
	names := sync.OnceValue(known)
	return func(term string) string {
		if !NamesCells(term) || strings.ContainsAny(term, `/@*?[\`) {
			return term
		}
		if axis, name, found := strings.Cut(term, "."); found && names()[axis][name] {
			switch {
			case slices.Contains(referenceAxes, axis):
				return axis + "=" + name
			case axis == "task":
				return axis + ":" + name
			}
		}
		if names().isUnique("solution", term) {
			return "solution=" + term
		}
		return term
	}
}

// isUnique reports whether a name is a value of this axis alone.
func (k Known) isUnique(axis, name string) bool {
	for of, names := range k {
		if of != axis && of != "task" && names[name] {
			return false
		}
	}
	return k[axis][name]
}
