package eval

import (
	"slices"

	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Vocabulary is what selectors of a configuration can say.
type Vocabulary struct {
	Axes   []string
	Values map[string][]string // by axis
	Cells  []string            // problem/solution and problem/checkpoint/solution
}

// Words evaluates the configuration, and nothing else, for its Vocabulary. Of one with
// mistakes it has what could be read.
func Words(o Options) Vocabulary {
	cfg, _ := lang.Load(o.lang())
	names, cells := known{}, map[string]bool{}
	if cfg == nil {
		cfg = &lang.Config{}
	}
	p := &Project{Config: cfg}
	for _, problem := range cfg.Problems {
		for _, tag := range problem.Tags {
			names.add("tag", tag)
		}
	}
	for _, s := range cfg.Suites {
		names.add("suite", s.Name)
	}
	for _, s := range cfg.Solutions {
		for _, l := range s.Labels {
			names.add(labelPrefix+l.Name, l.Value)
			if l.Name == modelAxis {
				names.add(modelAxis, l.Value)
			}
		}
	}
	for id := range p.checkpoints() {
		names.add("problem", id.Problem)
		names.add("solution", id.Solution)
		names.add("backend", id.Backend)
		names.add("checkpoint", id.Checkpoint)
		cells[id.Problem+"/"+id.Solution] = true
		if id.Checkpoint != "" {
			cells[id.Problem+"/"+id.Checkpoint+"/"+id.Solution] = true
		}
	}
	for _, kind := range plan.Kinds {
		names.add("kind", kind)
	}
	for _, word := range []string{"passed", "failed", "scored", "error", "timeout", "broken", "skipped", "not_reached"} {
		names.add("verdict", word)
	}
	v := Vocabulary{Axes: p.axes().names, Values: map[string][]string{}}
	for axis := range names {
		v.Values[axis] = names.names(axis)
	}
	for cell := range cells {
		v.Cells = append(v.Cells, cell)
	}
	slices.Sort(v.Cells)
	return v
}

// Addresses are those of all nodes of the configuration. Nothing is decided.
func (p *Project) Addresses() []string {
	all := make([]string, p.Plan.Graph.Len())
	for id := range all {
		all[id] = p.Plan.Graph.Node(graph.ID(id)).Addr
	}
	return all
}
