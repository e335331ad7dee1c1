package report

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/verdict"
)

// Suite returns the cells of r that belong to the named suite. They share their checkpoints with r.
func (r *Results) Suite(name string) *Results {
	out := &Results{Schema: r.Schema, Run: r.Run, Cells: []Cell{}}
	for _, cell := range r.Cells {
		if slices.Contains(cell.Suites, name) {
			out.Cells = append(out.Cells, cell)
		}
	}
	return out
}

// Under returns r as if p had decided which checkpoints passed. Scores do not change.
func (r *Results) Under(p verdict.Policy) *Results {
	out := &Results{Schema: r.Schema, Run: r.Run, Cells: slices.Clone(r.Cells), Tasks: r.Tasks}
	for i := range out.Cells {
		checkpoints := slices.Clone(out.Cells[i].Checkpoints)
		for j := range checkpoints {
			c := &checkpoints[j]
			c.Policy, c.Passed, c.Vacuous = string(p), p.Holds(c.Class, c.Groups), p.Vacuous(c.Class, c.Groups)
		}
		out.Cells[i].Checkpoints = checkpoints
	}
	return out
}
