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

// showInvalid says what is wrong with the invalid problems among what was
// asked for. Quiet runs say it once, when they have ended.
func (p *project) showInvalid(targets []graph.ID) {
	if p.app.flags.quiet {
		return
	}
	asked := map[string]bool{}
	for _, id := range p.plan.Graph.Closure(targets) {
		if n := p.plan.Graph.Node(id); n.Kind == plan.KindProblem {
			asked[n.Label("problem")] = true
		}
	}
	var shown diag.List
	for _, problem := range p.cfg.Problems {
		if asked[problem.Name] {
			shown = append(shown, problem.Invalid...)
		}
	}
	shown.Sort()
	view.Diagnostics(p.app.io.Err, shown, p.app.colorErr(), 0)
}
