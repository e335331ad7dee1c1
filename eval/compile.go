package eval

import (
	"context"
	"iter"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Project is a project with its stale partitions compiled. Fresh partitions are closed: the graph has
// the nodes of their cells, which suites need, pinned to their answers, or no node at all when there is
// nothing to compile. What else they have is counted and read by their facts. In an expanded project the
// graph has every node of fresh partitions, pinned, for selectors that can match any of them.
type Project struct {
	*freshness
	Plan     *plan.Plan
	expanded bool
	last     partition.Lasts  // what earlier runs left of the nodes that the engine decides about
	suites   partition.Suites // that are in no graph, since there was nothing to compile
	reads    *reading         // nil unless it is compared with another commit

	all   *execution               // a dry run over all nodes, once it is needed
	words map[plan.CellID][]string // for verdicts of checkpoints, once they are needed
}

// Open loads the configuration, opens state and store, and compiles everything.
func Open(ctx context.Context, o Options, access Access) (*Project, error) {
	f, err := openWith(ctx, o, access, nil)
	if err != nil {
		return nil, err
	}
	p, err := f.compile(ctx, false)
	if err != nil {
		return nil, f.closeAfter(err)
	}
	return p, nil
}

// compile compiles the partitions that are not fresh.
func (f *freshness) compile(ctx context.Context, expand bool) (*Project, error) {
	if err := f.evaluate(ctx); err != nil {
		return nil, err
	}
	env := f.environment()
	env.Rehydrated = f.rehydrated
	env.Rows = func(part *plan.Partition) []graph.Row {
		at, ok := f.find(part.Problem, part.First)
		if !ok || f.parts[at].facts == nil {
			return nil
		}
		if !expand {
			return f.parts[at].facts.Cells
		}
		rows, err := f.partitions.Rows(f.parts[at].File)
		if err != nil {
			f.parts[at].facts = nil // it is decided about instead
			return nil
		}
		return rows
	}
	compiled, err := plan.Compile(f.Config, f.options.RunJobs(), env)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return &Project{freshness: f, Plan: compiled, expanded: expand, last: f.lasts()}, nil
}

// compileNothing takes every partition, and the suites, as they are.
func (f *freshness) compileNothing() *Project {
	empty := &plan.Plan{Config: f.Config, Graph: graph.New(), Pools: map[string]int{graph.CPUPool: f.options.RunJobs()}}
	return &Project{freshness: f, Plan: empty, suites: f.index.Suites}
}

// lasts reads what earlier runs left of the nodes that the engine decides about.
func (f *freshness) lasts() partition.Lasts {
	decided, fresh := map[string]bool{}, map[partition.Name]bool{}
	for _, part := range f.parts {
		decided[part.Problem] = decided[part.Problem] || part.facts == nil
		fresh[part.File] = part.facts != nil
	}
	return partition.ReadLast(f.state, f.place).ByAddress(f.partitions, func(l partition.LastFile) bool { return decided[l.Problem] && !fresh[l.File] })
}

// withStale compiles some of the fresh partitions, too. It returns the project itself if none of them is fresh.
func (p *Project) withStale(ctx context.Context, which func(*partState) bool) (*Project, error) {
	if any, err := p.drop(ctx, which); err != nil || !any {
		return p, err
	}
	return p.compile(ctx, p.expanded)
}

// havePinned returns a predicate over the partitions that can have one of the pinned nodes among some: those of
// its problem, or any, if it has none.
func (p *Project) havePinned(ids []graph.ID) func(*partState) bool {
	problems := map[string]bool{}
	for _, id := range ids {
		if n := p.Plan.Graph.Node(id); n.Pinned != nil {
			problems[n.Label("problem")] = true
		}
	}
	return func(part *partState) bool { return problems[part.Problem] || problems[""] }
}

// closed returns the fresh partitions that are closed, with their positions.
func (p *Project) closed() iter.Seq2[int, *partState] {
	if p.expanded {
		return func(func(int, *partState) bool) {}
	}
	return p.fresh()
}

// Last returns what earlier runs left of a compiled node.
func (p *Project) Last(addr string) graph.Last { return p.last.Of(addr) }

// cells counts the cells of the configuration.
func (p *Project) cells() int {
	n := len(p.Plan.Cells)
	for _, part := range p.fresh() {
		n += len(part.facts.Cells)
	}
	return n
}
