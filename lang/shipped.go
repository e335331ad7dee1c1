package lang

import "fmt"

// ReferenceName is what the solutions that problems ship are called, and the
// suite of all of them.
const ReferenceName = "reference"

// addReferences adds the solutions that problems ship and their suite, each on
// the first backend that can evaluate it.
func (l *loader) addReferences() {
	suite := &Suite{Name: ReferenceName, Description: "The solutions that problems ship.", Implicit: true}
	for _, s := range l.config.Suites {
		if s.Name == ReferenceName {
			l.report(finding{
				code: "duplicate", summary: "Name is taken", rng: hclRange(s.Range),
				detail: fmt.Sprintf("The suite of the solutions that problems ship is called %q, too.", ReferenceName), hint: "give this one another name",
			})
		}
	}
	for _, s := range l.config.Solutions {
		if s.Problem.Reference != nil && s.Name == ReferenceName {
			l.report(finding{
				code: "duplicate", summary: "Name is taken", rng: hclRange(s.Range),
				detail: fmt.Sprintf("%s is named %q, which is the name of the solution that %s ships.", s.Ref, s.Name, s.Problem.Ref), hint: "give it another name = …",
			})
		}
	}
	for _, p := range l.config.Problems {
		if p.Reference == nil {
			continue
		}
		b := l.adHocBackend("", p)
		if b == nil {
			continue // reported
		}
		s := &Solution{
			Name: ReferenceName, Ref: "reference of " + p.Ref, Problem: p, Missing: "error", Range: p.Reference.Range,
			Checkpoints: []SolutionCheckpoint{{Checkpoint: p.Checkpoints[0], Source: p.Reference.Source}},
		}
		l.config.Solutions = append(l.config.Solutions, s)
		suite.Cells = append(suite.Cells, Cell{Solution: s, Backend: b, Repeat: 1})
	}
	l.config.Suites = append(l.config.Suites, suite)
}
