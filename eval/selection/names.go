package selection

import (
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/plan"
)

// Highest returns the items with the highest rank above 0.
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

// NamesCells reports whether an argument is a plain name, without a kind of node or an axis.
func NamesCells(arg string) bool { return !strings.ContainsAny(arg, ":=,") }

// Graders lists the kinds of nodes with verdicts.
var Graders = []string{plan.KindAggregate, plan.KindScore}

// GradingRank ranks kinds of nodes by their place in Graders, from 1; 0 for others.
func GradingRank(kind string) int { return slices.Index(Graders, kind) + 1 }

// OneCell reports whether all nodes belong to one cell.
func OneCell[T any](nodes []T, addr func(T) string) bool {
	return !slices.ContainsFunc(nodes, func(n T) bool { return plan.CellName(addr(n)) != plan.CellName(addr(nodes[0])) })
}
