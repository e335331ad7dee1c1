package selection

import (
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/text"
)

// changeAxes lists the axes of selectors for changes, besides the axes of results.
var changeAxes = []string{"change", "cause"}

// Changes returns a predicate for changes. Each argument is a comma-separated list of kinds, or a selector,
// which contains a =. Without arguments it matches no change.
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

// knownKinds returns an error if a term of a selector matches no kind of change.
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

// changeValues returns the values of a change on an axis; verdict is the new verdict.
func changeValues(c *report.Change, axis string) []string {
	switch axis {
	case "change":
		return []string{string(c.Kind)}
	case "cause":
		return append([]string{c.Cause()}, c.Causes...)
	}
	if c.Task != nil {
		return taskValues(c.Task, axis)
	}
	checkpoint := c.Is
	if checkpoint == nil {
		checkpoint = c.Was
	}
	return resultValues(c.Cell, checkpoint, axis)
}
