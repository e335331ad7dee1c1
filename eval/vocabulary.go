package eval

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Vocabulary lists the words of a configuration for selectors.
type Vocabulary struct {
	Axes   []string
	Values map[string][]string // by axis
	Cells  []string            // problem/solution and problem/checkpoint/solution
}

// Words returns the Vocabulary of a configuration by evaluating it, and nothing else. If it has errors, the
// result contains what could be read.
func Words(o Options) Vocabulary {
	cfg, _ := lang.Load(o.Lang())
	names, cells := selection.Known{}, map[string]bool{}
	if cfg == nil {
		cfg = &lang.Config{}
	}
	for _, problem := range cfg.Problems {
		for _, tag := range problem.Tags {
			names.Add("tag", tag)
		}
	}
	for _, s := range cfg.Suites {
		names.Add("suite", s.Name)
	}
	for _, s := range cfg.Solutions {
		for _, l := range s.Labels {
			names.Add(selection.LabelPrefix+l.Name, l.Value)
			if l.Name == selection.ModelAxis {
				names.Add(selection.ModelAxis, l.Value)
			}
		}
	}
	for id := range plan.Checkpoints(cfg) {
		names.Add("problem", id.Problem)
		names.Add("solution", id.Solution)
		names.Add("backend", id.Backend)
		names.Add("checkpoint", id.Checkpoint)
		cells[id.Problem+"/"+id.Solution] = true
		if id.Checkpoint != "" {
			cells[id.Problem+"/"+id.Checkpoint+"/"+id.Solution] = true
		}
	}
	for _, kind := range plan.Kinds {
		names.Add("kind", kind)
	}
	for _, word := range []string{"passed", "failed", "scored", "error", "timeout", "broken", "skipped", "not_reached"} {
		names.Add("verdict", word)
	}
	for _, word := range states {
		names.Add("state", word)
	}
	v := Vocabulary{Axes: selection.AxesOf(cfg).Names, Values: map[string][]string{}}
	for axis := range names {
		v.Values[axis] = names.Names(axis)
	}
	for cell := range cells {
		v.Cells = append(v.Cells, cell)
	}
	slices.Sort(v.Cells)
	return v
}

// Addresses returns the addresses of all nodes of the configuration, without deciding them.
func (p *Project) Addresses() []string {
	all := make([]string, p.Plan.Graph.Len())
	for id := range all {
		all[id] = p.Plan.Graph.Node(graph.ID(id)).Addr
	}
	return all
}
