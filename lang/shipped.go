package lang

import (
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// ReferenceName is the name of the solutions that problems ship, and of the suite of all of them.
const ReferenceName = "reference"

// addReferences adds the solutions that problems ship and their suite, each on
// the first backend that can evaluate it.
func (l *loader) addReferences() {
	suite := &Suite{Name: ReferenceName, Description: "The solutions that problems ship.", Implicit: true}
	for _, s := range l.config.Suites {
		if s.Name == ReferenceName {
			l.report(finding{
				code: "duplicate", summary: "Name is taken", rng: hclRange(s.Range),
				detail: fmt.Sprintf("The suite of the solutions that problems ship is also called %q.", ReferenceName), hint: "give this one another name",
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
		s := &Solution{Name: ReferenceName, Ref: "reference of " + p.Ref, Problem: p, Missing: "error", Range: p.Reference.Range}
		s.filesByDefault()
		for i, c := range p.Checkpoints {
			s.Checkpoints = append(s.Checkpoints, SolutionCheckpoint{Checkpoint: c, Source: p.Reference.Sources[i], Entry: p.Entry})
		}
		l.config.Solutions = append(l.config.Solutions, s)
		for repeat := range l.options.References {
			suite.Cells = append(suite.Cells, Cell{Solution: s, Backend: b, Repeat: repeat + 1})
		}
	}
	l.config.Suites = append(l.config.Suites, suite)
}

// shipped reads the solution that a problem ships. The problem's checkpoints must be known.
func (b *block) shipped(p *Problem) *Reference {
	r := &Reference{Range: convertRange(b.header)}
	for _, c := range p.Checkpoints {
		at := *b
		at.ctx = b.ctx.NewChild()
		at.ctx.Variables = map[string]cty.Value{"checkpoint": checkpointValue(c)}
		source, g := at.path("source")
		if g == isSet {
			if _, ok := at.stat("source", source, ""); ok {
				at.judgeable(p, source)
			}
		}
		r.Sources = append(r.Sources, source)
	}
	if p.Scored() {
		r.Score = fullScore
		if score, g := b.number("score"); g == isSet {
			r.Score = score
		}
		return r
	}
	if b.attrs["score"] != nil {
		b.reject("score", "unknown-attribute", "No use for this attribute", p.Ref+" gives no score: its reference must pass every checkpoint.", "remove it")
	}
	if strings.TrimSpace(p.Entry) == "" && len(p.Checkpoints) > 0 && p.NeedsEntry() {
		b.fail(finding{code: "missing-attribute", summary: "No entry", rng: b.header,
			detail: p.Ref + " does not say how its reference is started.", hint: `write such as entry = "python main.py" into the problem`})
	}
	return r
}
