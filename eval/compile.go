package eval

import (
	"context"
	"iter"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Project is a project whose stale partitions are compiled. Fresh partitions are closed: the graph contains
// none of their nodes, which are counted and read from their facts. In an expanded project, the graph contains
// every node of fresh partitions, pinned, for selectors that can match any of them.
type Project struct {
	call  *call
	fresh *freshness

	Plan     *plan.Plan
	expanded bool
	last     partition.Lasts // answers of earlier runs for nodes that the engine decides

	all      *execution               // a dry run over all nodes; set on first use
	observed bool                     // the trace contains the reads of all nodes
	words    map[plan.CellID][]string // words for verdicts of checkpoints; set on first use
}

// Open loads the configuration, opens state and store, and compiles all partitions.
func Open(ctx context.Context, o Options, access Access) (*Project, error) {
	f, err := openWith(ctx, o, access, nil)
	if err != nil {
		return nil, err
	}
	p, err := f.compile(ctx, false)
	if err != nil {
		return nil, f.call.closeAfter(err)
	}
	return p, nil
}

// Close saves the file index and releases files and backends. It is idempotent.
func (p *Project) Close() error { return p.call.close() }

// ReadPairs reads a file of pairs, whose path is relative to the project's directory. It returns an error for
// invalid files; the caller must judge findings about pairs that the configuration lacks.
func (p *Project) ReadPairs(file string) (*lang.Paired, error) { return p.call.readPairs(file) }

// compile compiles the partitions that are not fresh.
func (f *freshness) compile(ctx context.Context, expand bool) (*Project, error) {
	f, err := f.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([][]graph.Row, len(f.parts))
	for at, part := range f.freshParts() {
		if rows[at] = []graph.Row{}; expand {
			rows[at], _ = f.call.partitions.Rows(part.File)
		}
	}
	f, err = f.without(ctx, func(part *partState) bool { // the engine decides what cannot be read
		at, _ := f.find(part.Problem, part.First)
		return rows[at] == nil
	})
	if err != nil {
		return nil, err
	}
	env := f.call.environment()
	env.Rehydrated = f.rehydrated
	env.Rows = func(part *plan.Partition) []graph.Row {
		if at, ok := f.find(part.Problem, part.First); ok {
			return rows[at]
		}
		return nil
	}
	compiled, err := plan.Compile(f.call.Config, f.call.options.RunJobs(), env)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return &Project{call: f.call, fresh: f, Plan: compiled, expanded: expand, last: f.lasts()}, nil
}

// compileNothing uses every partition as it is recorded.
func (f *freshness) compileNothing() *Project {
	empty := &plan.Plan{Config: f.call.Config, Graph: graph.New(), Pools: map[string]int{graph.CPUPool: f.call.options.RunJobs()}}
	return &Project{call: f.call, fresh: f, Plan: empty}
}

// lasts reads the answers of earlier runs for nodes that the engine decides.
func (f *freshness) lasts() partition.Lasts {
	decided, fresh := map[string]bool{}, map[partition.Name]bool{}
	for _, part := range f.parts {
		decided[part.Problem] = decided[part.Problem] || part.facts == nil
		fresh[part.File] = part.facts != nil
	}
	return partition.ReadLast(f.call.state, f.call.place).ByAddress(f.call.partitions, func(l partition.LastFile) bool { return decided[l.Problem] && !fresh[l.File] })
}

// withStale also compiles the fresh partitions that which selects. It returns p itself if there are none.
func (p *Project) withStale(ctx context.Context, which func(*partState) bool) (*Project, error) {
	fresh, err := p.fresh.without(ctx, which)
	if err != nil || fresh == p.fresh {
		return p, err
	}
	return fresh.compile(ctx, p.expanded)
}

// havePinned returns a predicate over partitions that can contain pinned nodes of ids: the partitions of their
// problems, or all partitions if a node has no problem.
func havePinned(g *graph.Graph, ids []graph.ID) func(*partState) bool {
	problems := map[string]bool{}
	for _, id := range ids {
		if n := g.Node(id); n.Pinned != nil {
			problems[n.Label("problem")] = true
		}
	}
	return func(part *partState) bool { return problems[part.Problem] || problems[""] }
}

// closed yields the closed partitions with their positions.
func (p *Project) closed() iter.Seq2[int, *partState] {
	if p.expanded {
		return func(func(int, *partState) bool) {}
	}
	return p.fresh.freshParts()
}

// Last returns the answer of earlier runs for a compiled node.
func (p *Project) Last(addr string) graph.Last { return p.last.Of(addr) }

// cells counts the cells of the configuration.
func (p *Project) cells() int {
	n := len(p.Plan.Cells)
	for _, part := range p.fresh.freshParts() {
		n += len(part.facts.Summary)
	}
	return n
}
