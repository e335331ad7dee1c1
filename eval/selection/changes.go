package selection

import (
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// changeAxes are the axes of selectors of changes, besides the axes of results.
var changeAxes = []string{"change", "cause"}

// Changes returns a function that picks changes by arguments: each is a list of kinds with commas between,
// or a selector, which has a =. Without arguments it picks none.
func Changes(args []string) (func(*report.Change) bool, error) {
	var kinds, selectors []string
	for _, arg := range args {
		if strings.Contains(arg, "=") {
			if err := knownKinds(arg); err != nil {
				return nil, err
			}
			selectors = append(selectors, arg)
			continue
		}
		for kind := range strings.SplitSeq(arg, ",") {
			if !slices.Contains(report.ChangeKinds, report.ChangeKind(kind)) {
				return nil, exit.With(exit.Usage, text.Unknown("kind of change", kind, ChangeNames()))
			}
			kinds = append(kinds, kind)
		}
	}
	selector, err := graph.ParseSelector(selectors, slices.Concat(changeAxes, resultAxes))
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return func(c *report.Change) bool {
		return slices.Contains(kinds, string(c.Kind)) || selector.Match(c.Name, func(axis string) []string { return changeValues(c, axis) })
	}, nil
}

// knownKinds returns an error for a term of a selector that is about no kind of change.
func knownKinds(arg string) error {
	for term := range strings.SplitSeq(arg, ",") {
		axis, kind, _ := strings.Cut(term, "=")
		if strings.TrimSpace(axis) != "change" {
			continue
		}
		one, err := graph.ParseSelector([]string{term}, changeAxes)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		if !slices.ContainsFunc(ChangeNames(), func(name string) bool { return one.Match("", func(string) []string { return []string{name} }) }) {
			return exit.With(exit.Usage, text.Unknown("kind of change", kind, ChangeNames()))
		}
	}
	return nil
}

// ChangeNames returns the kinds of changes.
func ChangeNames() (names []string) {
	for _, kind := range report.ChangeKinds {
		names = append(names, string(kind))
	}
	return names
}

// changeValues returns the values of a change on an axis; its verdict is the new one.
func changeValues(c *report.Change, axis string) []string {
	switch axis {
	case "change":
		return []string{string(c.Kind)}
	case "cause":
		return append([]string{c.Cause()}, c.Causes...)
	}
	checkpoint := c.Is
	if checkpoint == nil {
		checkpoint = c.Was
	}
	return resultValues(c.Cell, checkpoint, axis)
}
