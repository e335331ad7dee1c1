package eval

import (
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Invalid are the findings about all problems that are invalid alone, sorted by
// place.
func Invalid(cfg *lang.Config) diag.List {
	return invalidOf(cfg, func(*lang.Problem) bool { return true })
}

// invalidAmong are the findings about those among the targets and what they
// need.
func (p *Project) invalidAmong(targets []graph.ID) diag.List {
	if p.Plan == nil {
		return nil
	}
	asked := map[string]bool{}
	for _, id := range p.Plan.Graph.Closure(targets) {
		if n := p.Plan.Graph.Node(id); n.Kind == plan.KindProblem {
			asked[n.Label("problem")] = true
		}
	}
	return invalidOf(p.Config, func(problem *lang.Problem) bool { return asked[problem.Name] })
}

func invalidOf(cfg *lang.Config, wanted func(*lang.Problem) bool) diag.List {
	var all diag.List
	for _, problem := range cfg.Problems {
		if wanted(problem) {
			all = append(all, problem.Invalid...)
		}
	}
	all.Sort()
	return all
}
