package cli

import (
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/view"
)

// invalidProblems are the findings about all problems that are invalid alone,
// sorted by place.
func invalidProblems(cfg *lang.Config) diag.List {
	var all diag.List
	for _, p := range cfg.Problems {
		all = append(all, p.Invalid...)
	}
	all.Sort()
	return all
}

// askedInvalid are the findings about those among the targets and what they
// need.
func (p *project) askedInvalid(targets []graph.ID) diag.List {
	asked := map[string]bool{}
	for _, id := range p.plan.Graph.Closure(targets) {
		if n := p.plan.Graph.Node(id); n.Kind == plan.KindProblem {
			asked[n.Label("problem")] = true
		}
	}
	var all diag.List
	for _, problem := range p.cfg.Problems {
		if asked[problem.Name] {
			all = append(all, problem.Invalid...)
		}
	}
	all.Sort()
	return all
}

// showInvalid says what is wrong with them. Quiet runs say it once, when they
// have ended.
func (p *project) showInvalid(targets []graph.ID) {
	if !p.app.flags.quiet {
		view.Diagnostics(p.app.io.Err, p.askedInvalid(targets), p.app.colorErr(), 0)
	}
}
