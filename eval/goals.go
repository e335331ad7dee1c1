package eval

import (
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/selection"
	"github.com/fevalgraph/fevalgraph/eval/shards"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/plan"
	"github.com/fevalgraph/fevalgraph/report"
)

// goals are the nodes that a request selects, in a project that is compiled as far as needed.
type goals struct {
	call    *call
	project *Project

	request Request
	targets []graph.ID
	force   func(*graph.Node) bool // nil forces no node
}

// goalsOf returns goals without a request.
func (p *Project) goalsOf(targets []graph.ID) *goals {
	return &goals{call: p.call, project: p, targets: targets}
}

// prepare compiles what a request needs, and selects its nodes.
func (f *freshness) prepare(ctx context.Context, r Request) (*goals, error) {
	if err := checkRetry(r.Retry); err != nil {
		return nil, err
	}
	f, err := f.without(ctx, func(part *partState) bool {
		again := func(row report.CellRow) bool { return row.Unjudged > 0 }
		// The first failure counts, whether it is of this run or an earlier one.
		return r.FailFast || len(r.Retry) > 0 && slices.ContainsFunc(part.facts.Summary, again)
	})
	if err != nil {
		return nil, err
	}
	if r.everything() && !f.isStale() {
		return f.compileNothing().pick(ctx, r)
	}
	p, err := f.compileReaders(ctx, slices.Concat(r.Targets, r.Only, r.Not, r.Force), !r.everything())
	if err == nil {
		p, err = p.withForced(ctx, r.Force)
	}
	if err != nil {
		return nil, err
	}
	return p.pick(ctx, r)
}

// withForced compiles the partitions that contain forced nodes.
func (p *Project) withForced(ctx context.Context, args []string) (*Project, error) {
	force, err := p.matcher(ctx, args)
	if err != nil || force == nil {
		return p, err
	}
	if err := p.eachMatches(ctx, "--force ", args); err != nil {
		return nil, err
	}
	var forced []graph.ID
	for id := range graph.ID(p.Plan.Graph.Len()) {
		if force(p.Plan.Graph.Node(id)) {
			forced = append(forced, id)
		}
	}
	return p.withStale(ctx, havePinned(p.Plan.Graph, forced))
}

// pick selects the nodes of a request.
func (p *Project) pick(ctx context.Context, r Request) (*goals, error) {
	g := p.goalsOf(nil)
	g.request = r
	var err error
	if g.targets, err = p.Targets(ctx, r.Selection); err != nil {
		return nil, err
	}
	if g.force, err = p.matcher(ctx, r.Force); err != nil {
		return nil, err
	}
	again, err := p.retryMatcher(ctx, r.Retry)
	if err != nil {
		return nil, err
	}
	g.force = anyOf(g.force, again)
	if r.Shard != "" || r.Cells != "" {
		part := shards.Part{Shard: r.Shard, Cells: r.Cells, Path: p.call.options.Path(r.Cells)}
		if g.targets, err = part.Keep(p.Plan, g.targets); err != nil {
			return nil, exit.With(exit.Usage, err)
		}
	}
	return g, g.addFigures(ctx)
}

// addFigures adds the nodes with figures about checkpoints whose verdicts are targets, unless they are left out.
func (g *goals) addFigures(ctx context.Context) error {
	of := g.project.Plan.Graph
	figures := slices.DeleteFunc(everyNode(of), func(id graph.ID) bool { return of.Node(id).Kind != plan.KindFigures })
	if len(figures) == 0 {
		return nil
	}
	about := func(id graph.ID) plan.CellID {
		c := plan.NodeCell(of.Node(id))
		return plan.CellID{Problem: c.Problem, Checkpoint: c.Checkpoint, Solution: c.Solution}
	}
	graded := map[plan.CellID]bool{}
	for _, id := range g.targets {
		if slices.Contains(selection.Graders, of.Node(id).Kind) {
			graded[about(id)] = true
		}
	}
	not, err := g.project.matcher(ctx, g.request.Not)
	if err != nil {
		return err
	}
	out := leftOut(g.project.Plan.Graph, not)
	for _, id := range figures {
		if graded[about(id)] && (out == nil || !out[id]) {
			g.targets = append(g.targets, id)
		}
	}
	return nil
}

// nodes returns the targets with their dependencies.
func (g *goals) nodes() []graph.ID { return g.project.Plan.Graph.Closure(g.targets) }

// counts counts the nodes of a request.
type counts struct {
	nodes   int // all nodes
	decided int // nodes that the engine decides
}

// count counts the nodes of the goals. Those of closed partitions are counted by their facts.
func (g *goals) count() counts {
	var c counts
	common := map[string]bool{}
	for _, part := range g.project.closed() {
		f := part.facts
		c.nodes += f.Own
		for _, ref := range f.Common {
			common[ref.Addr] = true
		}
	}
	for addr := range common {
		if id, ok := g.project.Plan.Graph.Lookup(addr); !ok || g.project.Plan.Graph.Node(id).Pinned != nil { // other nodes are counted below
			c.nodes++
		}
	}
	for _, id := range g.nodes() {
		c.nodes++
		if g.project.Plan.Graph.Node(id).Pinned == nil {
			c.decided++
		}
	}
	return c
}

// countCells counts the cells of the goals.
func (g *goals) countCells() int {
	n, among := 0, map[plan.CellID]bool{}
	for _, part := range g.project.closed() {
		n += len(part.facts.Summary)
	}
	for _, id := range g.nodes() {
		if cell := plan.NodeCell(g.project.Plan.Graph.Node(id)).Cell(); cell.Repeat > 0 {
			among[cell] = true
		}
	}
	return n + len(among)
}

// announce reports the nodes that the engine does not decide: to the record by partition if that is closed,
// otherwise one by one.
func (g *goals) announce(rec *recording) {
	for _, part := range g.project.closed() {
		rec.Emit(event.NodesSame{Type: "nodes.same", Problem: part.Problem, Partition: part.File.String(), Nodes: part.facts.Own + len(part.facts.Common)})
	}
	for _, id := range g.nodes() {
		if n := g.project.Plan.Graph.Node(id); n.Pinned != nil {
			done := n.PinnedEvent()
			rec.Emit(done)
			if g.request.EachNode {
				rec.sinks[1:].Emit(done)
			}
		}
	}
}

// noteInvalid notes and returns the diagnostics of invalid problems among the goals.
func (g *goals) noteInvalid() diag.List {
	asked := map[string]bool{}
	for _, id := range g.nodes() {
		if n := g.project.Plan.Graph.Node(id); n.Kind == plan.KindProblem {
			asked[n.Label("problem")] = true
		}
	}
	invalid := validate.InvalidOf(g.call.Config, func(problem *lang.Problem) bool { return asked[problem.Name] })
	if len(invalid) > 0 {
		g.call.options.Note(options.InvalidProblems{Diagnostics: invalid})
	}
	return invalid
}
