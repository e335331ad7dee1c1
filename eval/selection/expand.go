package selection

import (
	"slices"
	"strings"
	"sync"
)

// referenceAxes are the axes on which a reference of the language, such as suite.nightly, names a value.
var referenceAxes = []string{"problem", "solution", "backend", "suite"}

// Expander returns a function that replaces names and references in terms by what they mean: the
// name of a solution that nothing else has becomes solution=NAME, solution.NAME and its like
// solution=NAME, and task.NAME task:NAME. Addresses begin with problems, so their names stay. It calls
// known at most once, and only if a term could be one of these.
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
		if names().only("solution", term) {
			return "solution=" + term
		}
		return term
	}
}

// only reports whether a name is one of an axis and of no other.
func (k Known) only(axis, name string) bool {
	for of, names := range k {
		if of != axis && of != "task" && names[name] {
			return false
		}
	}
	return k[axis][name]
}
