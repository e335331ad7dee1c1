package eval

import (
	"context"
	"errors"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// executions bounds how often one run executes its graph: once, and again when
// results turn out to be damaged in the store.
const executions = 3

// execute runs the graph and reads its results. Results that cannot be read
// back, because their blobs were lost or damaged since the decision, are made
// again.
// The goals are others afterwards when a partition had to be compiled after all.
func (p *Project) execute(ctx context.Context, r Request, g *goals, rec *recording) (*graph.Report, *collected, error) {
	ran := r.merged.Ran()
	forced, preempted := g.force, 0
	for left := executions - 1; ; left-- {
		o := graph.Options{Store: p.stores.Store, Locker: p.stores.Store, Last: p.Last, Sink: rec.sinks, Run: p.run, Pools: p.Plan.Pools,
			Lookups: p.stores.Lookups(), Force: forced, Refuse: r.merged.Refusal(p.Config), Stop: p.stopAt(ctx, r), SaveLog: rec.SaveLog, Backlog: p.site.Queue()}
		if rec.trace != nil {
			o.Profile = rec.trace
		}
		rep, err := p.Plan.Graph.Execute(ctx, g.targets, o)
		if rep.Foreign > 0 && left == executions-1 {
			p.options.Note(options.ForeignIgnored{Count: rep.Foreign})
		}
		p.countEarlier(rep, ran)
		preempted += rep.Preempted
		rep.Preempted = preempted
		if err != nil {
			return rep, nil, err
		}
		again, err := p.reopenRefuted(ctx, r, g, rep)
		if err != nil {
			return rep, nil, err
		}
		if !again {
			p.stores.Fetch(ctx, func() []cache.Output { return p.resultOutputs(rep) })
			results, err := p.collectResults(context.WithoutCancel(ctx), *g, rep)
			if !isLost(err) || left == 0 || ctx.Err() != nil {
				return rep, results, err
			}
			p.dropDamaged(ctx, rep)
		}
		forced = nil // what was forced has run
	}
}

// resultOutputs are the outputs that results are read from.
func (p *Project) resultOutputs(rep *graph.Report) (outputs []cache.Output) {
	add := func(id graph.ID, name string) {
		if o, ok := rep.Status(id).Output(name); ok {
			outputs = append(outputs, o)
		}
	}
	for _, cell := range p.Plan.Cells {
		for i := range cell.Checkpoints {
			add(cell.Checkpoints[i].Aggregate, tasks.ResultOutput)
			add(cell.Checkpoints[i].Measured, tasks.MeasurementsOutput)
		}
	}
	return outputs
}

// reopenRefuted compiles the fresh partitions that an execution refutes, if there are any: those with pinned
// nodes whose outputs are gone from the store, and those that were decided with other outputs of a node than
// this execution has. Results of one run have one answer of each node.
func (p *Project) reopenRefuted(ctx context.Context, r Request, g *goals, rep *graph.Report) (bool, error) {
	if ctx.Err() != nil {
		return false, nil
	}
	lost := map[string]bool{} // by problem
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		if n := p.Plan.Graph.Node(id); n.Pinned != nil && rep.Status(id).State != event.Cached {
			lost[n.Label("problem")] = true
		}
	}
	differs := func(c partition.CommonRef) bool {
		id, ok := p.Plan.Graph.Lookup(c.Addr)
		if !ok || p.Plan.Graph.Node(id).Pinned != nil {
			return false
		}
		switch st := rep.Status(id); st.State {
		case event.Cached, event.Done, event.Timeout:
			return partition.SumOutputs(st.Outputs) != c.Outputs
		}
		return false
	}
	any, err := p.reopen(ctx, func(part *partState) bool {
		return lost[part.Problem] || lost[""] || slices.ContainsFunc(part.facts.Common, differs)
	})
	if any && err == nil {
		*g, err = p.goals(ctx, r)
	}
	return any, err
}

// countEarlier counts nodes that ran in an earlier execution of this run as
// executed though they were fresh in the last one, and notes which ran in it.
func (p *Project) countEarlier(rep *graph.Report, ran map[string]bool) {
	for _, id := range rep.Nodes {
		addr := p.Plan.Graph.Node(id).Addr
		switch rep.Status(id).State {
		case event.Cached:
			if ran[addr] {
				rep.Status(id).Earlier = true
				rep.Cached--
				rep.Executed++
			}
		case event.Done, event.Failed, event.Timeout, event.Broken:
			ran[addr] = true
		}
	}
}

func isLost(err error) bool {
	var corrupt *cache.CorruptError
	var missing *cache.MissingError
	return errors.As(err, &corrupt) || errors.As(err, &missing)
}

// dropDamaged reads all that results are made of, so that the store drops what
// is damaged and the next execution makes all of it again.
func (p *Project) dropDamaged(ctx context.Context, rep *graph.Report) {
	for _, id := range rep.Nodes {
		if !p.Plan.Graph.Node(id).Kept {
			continue
		}
		for _, o := range rep.Status(id).Outputs {
			cache.Intact(ctx, p.stores.Store, o)
		}
	}
}
