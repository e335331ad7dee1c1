package lang

import (
	"fmt"
	"strings"
)

// assemble fills the Config in source order from the evaluated declarations.
func (l *loader) assemble() {
	c := l.config
	for _, d := range l.decls {
		switch made := d.made.(type) {
		case Variable:
			c.Variables = append(c.Variables, made)
		case Pool:
			c.Pools = append(c.Pools, made)
		case Secret:
			c.Secrets = append(c.Secrets, made)
		case *Backend:
			c.Backends = append(c.Backends, made)
		case []*Problem:
			c.Problems = append(c.Problems, made...)
		case []*Solution:
			c.Solutions = append(c.Solutions, made...)
		case []*Task:
			c.Tasks = append(c.Tasks, made...)
		case *Suite:
			c.Suites = append(c.Suites, made)
		case *Result:
			c.Results = append(c.Results, made)
		case *Export:
			c.Exports = append(c.Exports, made)
		case []*Generator:
			c.Generators = append(c.Generators, made...)
		}
	}
	l.refuseBorrowed()
	l.checkNames()
	l.checkFigures()
	l.checkPublished()
	l.checkGenerated()
}

// checkGenerated reports generators that would write to the same directory.
func (l *loader) checkGenerated() {
	first := map[string]*Generator{}
	for _, g := range l.config.Generators {
		if before := first[g.Directory]; before != nil {
			l.report(finding{
				code: "duplicate", summary: "Duplicate directory", rng: hclRange(g.Range),
				detail: fmt.Sprintf("%s and %s (line %d) both write to %q.", g.Ref, before.Ref, before.Range.Start.Line, l.show(g.Directory)),
				hint:   "give one of them another directory = …",
			})
			continue
		}
		first[g.Directory] = g
	}
}

// checkNames reports problems with equal names, and solutions with equal names within their problem: results
// could not tell them apart. Instances of a block with one name are reported once.
func (l *loader) checkNames() {
	type clash struct{ block, name string }
	reported := map[clash]bool{}
	report := func(ref, name string, f finding) {
		block, _, _ := strings.Cut(ref, "[")
		if at := (clash{block, name}); !reported[at] {
			reported[at] = true
			l.report(f)
		}
	}
	problems := map[string]*Problem{}
	for _, p := range l.config.Problems {
		if before := problems[p.Name]; before != nil {
			report(p.Ref, p.Name, finding{
				code: "duplicate", summary: "Duplicate name", rng: hclRange(p.Range),
				detail: fmt.Sprintf("%s and %s (line %d) are both named %q.", p.Ref, before.Ref, before.Range.Start.Line, p.Name),
				hint:   "give one of them another name = …",
			})
			continue
		}
		problems[p.Name] = p
	}
	type key struct {
		problem *Problem
		name    string
	}
	solutions := map[key]*Solution{}
	for _, s := range l.config.Solutions {
		k := key{s.Problem, s.Name}
		if before := solutions[k]; before != nil {
			report(s.Ref, s.Problem.Name+"/"+s.Name, finding{
				code: "duplicate", summary: "Duplicate name", rng: hclRange(s.Range),
				detail: fmt.Sprintf("%s and %s (line %d) both answer %q and are both named %q.", s.Ref, before.Ref, before.Range.Start.Line, s.Problem.Name, s.Name),
				hint:   "give one of them another name = …",
			})
			continue
		}
		solutions[k] = s
	}
}
