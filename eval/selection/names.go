package selection

import (
	"strings"

	"github.com/fevalgraph/fevalgraph/plan"
)

// Highest returns the items of the highest rank above 0.
func Highest[T any](all []T, rank func(T) int) (found []T) {
	best := 1
	for _, one := range all {
		switch r := rank(one); {
		case r > best:
			best, found = r, []T{one}
		case r == best:
			found = append(found, one)
		}
	}
	return found
}

// PartsOfCell returns a selector of the checkpoints or cases of a cell, PROBLEM/SOLUTION, whose names come
// between in addresses.
func PartsOfCell(arg string) (string, bool) {
	problem, solution, ok := strings.Cut(arg, "/")
	return problem + "/*/" + solution, ok
}

// NamesCells reports whether an argument is the name of something and no kind of node.
func NamesCells(arg string) bool { return !strings.ContainsAny(arg, ":=,") }

// Graders are the kinds of nodes that have verdicts. What has a score is graded by
// that, and not by the sum of its one checkpoint.
var Graders = []string{plan.KindAggregate, plan.KindScore}
