package eval

import (
	"context"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/history"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// executions limits how often a run executes its graph: repeatedly only if results turn out to be damaged in
// the store.
const executions = 3

// execution holds the engine's report about goals, from a run or a dry run.
type execution struct {
	call    *call
	project *Project
	goals   *goals

	rep     *graph.Report
	last    *history.Last       // set on first use
	damaged *event.DamagedError // a damaged record that can contain last results
}

func newExecution(g *goals, rep *graph.Report) *execution {
	return &execution{call: g.call, project: g.project, goals: g, rep: rep}
}

// decide makes a dry run. Statuses have manifests if requested. It does not resolve requirements: a run also decides nodes that were not requested.
func (g *goals) decide(ctx context.Context, manifests bool) (*execution, error) {
	return g.preview(ctx, graph.Preview{DryRun: true, Manifests: manifests})
}

func (g *goals) preview(ctx context.Context, how graph.Preview) (*execution, error) {
	rep, err := g.project.Plan.Graph.Execute(requirements.AsItIs(ctx), g.targets, graph.Options{Store: g.call.stores.Store, Last: g.project.Last, Run: g.call.run, Pools: g.project.Plan.Pools, Preview: how, Limits: graph.Limits{Lookups: g.call.stores.Lookups()}, Hooks: graph.Hooks{Force: g.force}})
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return newExecution(g, rep), context.Cause(ctx)
}

// decide makes a dry run of a request.
func (f *freshness) decide(ctx context.Context, r Request) (*execution, error) {
	g, err := f.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	return g.foresee(ctx)
}

// foresee makes a dry run, and compiles the fresh partitions that it refutes, as a run does: an output that the work
// needs and that is gone is made again, and can differ. The returned execution has other goals then.
func (g *goals) foresee(ctx context.Context) (*execution, error) {
	for left := executions - 1; ; left-- {
		x, err := g.preview(ctx, graph.Preview{DryRun: true, Losses: true})
		if err != nil || left == 0 {
			return x, err
		}
		next, err := x.withoutRefuted(ctx)
		if err != nil || next == g {
			return x, err
		}
		g = next
	}
}

// decideOn makes a dry run over some nodes, whose statuses have manifests.
func (p *Project) decideOn(ctx context.Context, ids ...graph.ID) (*execution, error) {
	return p.goalsOf(ids).decide(ctx, true)
}

// everyNode returns the nodes of the graph.
func everyNode(g *graph.Graph) []graph.ID {
	all := make([]graph.ID, g.Len())
	for id := range all {
		all[id] = graph.ID(id)
	}
	return all
}

// decideAll makes a dry run over all nodes. Its callers share the result.
func (p *Project) decideAll(ctx context.Context) (*execution, error) {
	if p.all != nil {
		return p.all, nil
	}
	x, err := p.goalsOf(everyNode(p.Plan.Graph)).decide(ctx, false)
	if err == nil {
		p.all = x
	}
	return x, err
}

// execute runs the graph and reads its results. Results whose blobs were lost or damaged since the decision are
// produced again. The returned execution has other goals if more partitions had to be compiled.
func (g *goals) execute(ctx context.Context, rec *recording) (*execution, *collected, error) {
	r, ran, preempted, force := &g.request, g.request.merged.Ran(), 0, g.force
	for left := executions - 1; ; left-- {
		o := graph.Options{
			Store:   g.call.stores.Store,
			Locker:  g.call.stores.Store,
			Last:    g.project.Last,
			Sink:    rec.sinks,
			Run:     g.call.run,
			Pools:   g.project.Plan.Pools,
			Limits:  graph.Limits{Lookups: g.call.stores.Lookups()},
			Hooks:   graph.Hooks{Force: force, Refuse: r.merged.Refusal(g.call.Config), Stop: g.stopAt(ctx), SaveLog: rec.SaveLog},
			Backlog: g.call.site.Queue(),
		}
		rep, err := g.project.Plan.Graph.Execute(ctx, g.targets, o)
		x := newExecution(g, rep)
		if rep.Foreign > 0 && left == executions-1 {
			g.call.options.Note(options.ForeignIgnored{Count: rep.Foreign})
		}
		x.countEarlier(ran)
		preempted += rep.Preempted
		rep.Preempted = preempted
		if err != nil {
			return x, nil, err
		}
		next, err := x.withoutRefuted(ctx)
		if err != nil {
			return x, nil, err
		}
		if next == g {
			g.call.stores.Fetch(ctx, x.resultOutputs)
			results, err := x.collect(context.WithoutCancel(ctx))
			if !cache.IsLost(err) || left == 0 || ctx.Err() != nil {
				return x, results, err
			}
			x.dropDamaged(ctx)
		}
		x.addRan(ran)
		g = next
		rec.sinks[1:].Emit(event.RunAgain{Type: "run.again", Nodes: g.count().decided})
		force = nil // forced nodes have run
	}
}

// resultOutputs returns the outputs that results are read from.
func (x *execution) resultOutputs() (outputs []cache.Output) {
	add := func(id graph.ID, name string) {
		if o, ok := x.rep.Status(id).Output(name); ok {
			outputs = append(outputs, o)
		}
	}
	for _, cell := range x.project.Plan.Cells {
		for i := range cell.Checkpoints {
			add(cell.Checkpoints[i].Aggregate, tasks.ResultOutput)
			add(cell.Checkpoints[i].Measured, tasks.MeasurementsOutput)
		}
	}
	return outputs
}

// withoutRefuted compiles fresh partitions that the execution refutes, and selects the goals again. If there
// are none, it returns the same goals.
func (x *execution) withoutRefuted(ctx context.Context) (*goals, error) {
	if ctx.Err() != nil {
		return x.goals, nil
	}
	p, err := x.project.withStale(ctx, x.refutes())
	if err != nil || p == x.project {
		return x.goals, err
	}
	return p.pick(ctx, x.goals.request)
}

// refutes returns a predicate over fresh partitions with a pinned node whose outputs are missing in the store,
// or that depended on other outputs of a node than this execution has: the results of a run must contain one
// answer for each node.
func (x *execution) refutes() func(*partState) bool {
	needed := x.project.Plan.Graph.Closure(x.goals.targets)
	lost := havePinned(x.project.Plan.Graph, slices.DeleteFunc(needed, func(id graph.ID) bool { return x.rep.Status(id).State == event.Cached }))
	differs := func(c partition.CommonRef) bool {
		id, ok := x.project.Plan.Graph.Lookup(c.Addr)
		if !ok || x.project.Plan.Graph.Node(id).Pinned != nil {
			return false
		}
		switch st := x.rep.Status(id); st.State {
		case event.Cached, event.Done, event.Timeout:
			return partition.SumOutputs(st.Outputs) != c.Outputs
		case "": // in a dry run, the outputs of stale nodes are unknown or predicted
			return st.Stale && partition.SumOutputs(st.Outputs) != c.Outputs
		}
		return false
	}
	return func(part *partState) bool { return lost(part) || slices.ContainsFunc(part.facts.Common, differs) }
}

// countEarlier counts nodes that ran in an earlier execution of this run as executed, although they were fresh
// in the last one.
func (x *execution) countEarlier(ran map[string]bool) {
	for _, id := range x.rep.Nodes {
		if st := x.rep.Status(id); st.State == event.Cached && ran[x.project.Plan.Graph.Node(id).Addr] {
			x.rep.Cached--
			x.rep.Executed++
		}
	}
}

// addRan adds the nodes that ran in this execution.
func (x *execution) addRan(ran map[string]bool) {
	for _, id := range x.rep.Nodes {
		switch x.rep.Status(id).State {
		case event.Done, event.Failed, event.Timeout, event.Broken:
			ran[x.project.Plan.Graph.Node(id).Addr] = true
		}
	}
}

// dropDamaged reads everything that results are made of. The store drops damaged blobs, so that the next
// execution produces them again.
func (x *execution) dropDamaged(ctx context.Context) {
	for _, id := range x.rep.Nodes {
		if !x.project.Plan.Graph.Node(id).Kept {
			continue
		}
		for _, o := range x.rep.Status(id).Outputs {
			cache.Intact(ctx, x.call.stores.Store, o)
		}
	}
}
