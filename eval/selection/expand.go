package selection

import (
	"slices"
	"strings"
)

// referenceAxes are the axes on which a reference of the language, such as suite.nightly, names a value.
var referenceAxes = []string{"problem", "solution", "backend", "suite"}

// Expand returns selectors with names and references replaced by what they mean: the name of a solution
// that nothing else has becomes solution=NAME, solution.NAME and its like solution=NAME, and task.NAME
// task:NAME. Addresses begin with problems, so their names stay. It calls known only if an argument could be one of these.
func Expand(args []string, known func() Known) []string {
	var names Known
	expanded := slices.Clone(args)
	for i, arg := range args {
		if !NamesCells(arg) || strings.ContainsAny(arg, `/@*?[\`) {
			continue
		}
		if names == nil {
			names = known()
		}
		if axis, name, found := strings.Cut(arg, "."); found && names[axis][name] {
			switch {
			case slices.Contains(referenceAxes, axis):
				expanded[i] = axis + "=" + name
				continue
			case axis == "task":
				expanded[i] = axis + ":" + name
				continue
			}
		}
		if names.only("solution", arg) {
			expanded[i] = "solution=" + arg
		}
	}
	return expanded
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
