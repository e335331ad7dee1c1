package lang

import (
	"fmt"
	"slices"
)

// RunsOn reports whether b can evaluate p. For an invalid problem it is true, since nothing is run.
func (p *Problem) RunsOn(b *Backend) bool {
	return p.Kind() == "" || p.Judge != nil && b.Judges || p.Judge == nil && b.Commands
}

// runnable filters the pairs of a cross product that can run. It reports a solution without any backend
// left, once per problem.
func (l *loader) runnable(cells []Cell, report func(*Problem, finding)) []Cell {
	runs, told := map[*Solution]bool{}, map[*Problem]bool{}
	for _, c := range cells {
		runs[c.Solution] = runs[c.Solution] || c.Solution.Problem.RunsOn(c.Backend)
	}
	for _, c := range cells {
		p := c.Solution.Problem
		if runs[c.Solution] || told[p] {
			continue
		}
		told[p] = true
		report(p, unpairedFinding(p))
	}
	return slices.DeleteFunc(cells, func(c Cell) bool { return !c.Solution.Problem.RunsOn(c.Backend) })
}

// unpairedFinding returns the finding that p has no suitable backend.
func unpairedFinding(p *Problem) finding {
	f := finding{code: "no-backend", summary: "No backend for a problem", detail: fmt.Sprintf("%s is a %s problem, and no declared backend can evaluate it.", p.Ref, p.Kind())}
	f.hint = `declare one, such as backend "local" "host" {}`
	if p.Judge != nil {
		f.hint = `judge problems need a judge: declare backend "gojudge" "box" {}`
	}
	return f
}
