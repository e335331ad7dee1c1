package eval

import (
	"slices"
	"strings"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// labelPrefix begins the axes that are labels of solutions.
const labelPrefix = "label."

// modelAxis is another name of the axis label.model.
const modelAxis = "model"

// axes are what selectors may speak of: what nodes are labelled with, and the
// labels of the solutions that they belong to, which nodes do not repeat.
type axes struct {
	names     []string
	solutions map[plan.CellID]map[string]string // by problem and solution: label to value
}

// axes returns those of the configuration, sorted but for the plan's own.
func (p *Project) axes() axes {
	x := axes{solutions: map[plan.CellID]map[string]string{}}
	for _, s := range p.Config.Solutions {
		if len(s.Labels) == 0 {
			continue
		}
		values := map[string]string{}
		for _, l := range s.Labels {
			values[l.Name] = l.Value
			x.names = append(x.names, labelPrefix+l.Name)
		}
		x.solutions[plan.CellID{Problem: s.Problem.Name, Solution: s.Name}] = values
	}
	slices.Sort(x.names)
	x.names = slices.Concat(plan.Axes, []string{modelAxis}, slices.Compact(x.names))
	return x
}

// label is the label that an axis stands for.
func (x axes) label(axis string) (string, bool) {
	if axis == modelAxis {
		return modelAxis, true
	}
	return strings.CutPrefix(axis, labelPrefix)
}

// labels are the values of a label of the solution that a node belongs to.
func (x axes) labels(n *graph.Node, label string) []string {
	if value, ok := x.solutions[plan.CellID{Problem: n.Label("problem"), Solution: n.Label("solution")}][label]; ok {
		return []string{value}
	}
	return nil
}
