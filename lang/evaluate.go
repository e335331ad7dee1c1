package lang

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// instances contains the targets of references, by the ref attribute of their value: "problem.suite[\"a\"]".
type instances struct {
	problems  map[string]*Problem
	solutions map[string]*Solution
	backends  map[string]*Backend
	suites    map[string]*Suite
	tasks     map[string]*Task
	values    map[string]cty.Value
	read      map[*Problem]wasRead
}

func newInstances() instances {
	return instances{
		problems:  map[string]*Problem{},
		solutions: map[string]*Solution{},
		backends:  map[string]*Backend{},
		suites:    map[string]*Suite{},
		tasks:     map[string]*Task{},
		values:    map[string]cty.Value{},
		read:      map[*Problem]wasRead{},
	}
}

// evaluate computes the value of a declaration and its part of the Config.
func (l *loader) evaluate(d *decl) {
	value := cty.DynamicVal
	switch d.kind {
	case "fevalgraph":
		l.evaluateSettings(d)
	case "variable":
		value = l.evaluateVariable(d)
	case "local":
		b := &block{l: l, src: d.src, decl: d, ctx: l.scope(d), header: d.header}
		value, _ = b.evaluate(d.attr.Expr)
	case "pool":
		value = l.evaluatePool(d)
	case "secret":
		value = l.evaluateSecret(d)
	case "backend":
		value = l.evaluateBackend(d)
	case "problem":
		value = l.evaluateProblem(d)
	case "solution":
		value = l.evaluateSolution(d)
	case "task":
		value = l.evaluateTask(d)
	case "suite":
		value = l.evaluateSuite(d)
	case "result":
		l.evaluateResult(d)
	case "export":
		l.evaluateExport(d)
	case "generator":
		l.evaluateGenerator(d)
	}
	if !d.failed {
		d.value = value
	}
}

// silenceFunctions makes functions with an error return unknown, so that their callers stay silent.
func (l *loader) silenceFunctions() {
	for _, d := range l.decls {
		if d.kind != "function" || !d.failed {
			continue
		}
		if _, made := l.functions[d.name()]; made {
			l.functions[d.name()] = function.New(&function.Spec{
				VarParam: &function.Parameter{Name: "args", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
				Type:     function.StaticReturnType(cty.DynamicPseudoType),
				Impl:     func([]cty.Value, cty.Type) (cty.Value, error) { return cty.DynamicVal, nil },
			})
		}
	}
}
