package selection

import (
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// LabelPrefix is the prefix of axes that are labels of solutions.
const LabelPrefix = "label."

// ModelAxis is an alias of the axis label.model.
const ModelAxis = "model"

// Axes are the axes of selectors: the labels of nodes, and the labels of their solutions, which nodes do not
// repeat.
type Axes struct {
	Names     []string
	solutions map[plan.CellID]map[string]string // by problem and solution: label to value
}

// AxesOf returns the axes of a configuration: those of the plan, then the others, sorted.
func AxesOf(cfg *lang.Config) Axes {
	x := Axes{solutions: map[plan.CellID]map[string]string{}}
	for _, s := range cfg.Solutions {
		if len(s.Labels) == 0 {
			continue
		}
		values := map[string]string{}
		for _, l := range s.Labels {
			values[l.Name] = l.Value
			x.Names = append(x.Names, LabelPrefix+l.Name)
		}
		x.solutions[plan.CellID{Problem: s.Problem.Name, Solution: s.Name}] = values
	}
	slices.Sort(x.Names)
	x.Names = slices.Concat(plan.Axes, []string{ModelAxis}, slices.Compact(x.Names))
	return x
}

// Values returns the values of a node on an axis, except its verdicts.
func (x Axes) Values(n *graph.Node, axis string) []string {
	label, ok := strings.CutPrefix(axis, LabelPrefix)
	if axis == ModelAxis {
		label, ok = ModelAxis, true
	}
	if ok {
		if value, has := x.solutions[plan.CellID{Problem: n.Label("problem"), Solution: n.Label("solution")}][label]; has {
			return []string{value}
		}
		return nil
	}
	if axis == "kind" {
		return []string{n.Kind}
	}
	var values []string
	for _, l := range n.Labels {
		if l.Name == axis {
			values = append(values, l.Value)
		}
	}
	return values
}
