package eval

import (
	"context"
	"errors"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/report"
)

// executions bounds how often one run executes its graph: once, and again when
// results turn out to be damaged in the store.
const executions = 3

// execute runs the graph and reads its results. Results that cannot be read
// back, because their blobs were lost or damaged since the decision, are made
// again.
func (p *Project) execute(ctx context.Context, r Request, g goals, rec *recording) (*graph.Report, *report.Results, error) {
	o := graph.Options{Store: p.store, Locker: p.store, Log: p.log, Sink: rec.sinks, Run: p.run, Pools: p.Plan.Pools,
		Force: g.force, Stop: p.stopAt(ctx, r), SaveLog: rec.SaveLog}
	if rec.trace != nil {
		o.Profile = rec.trace
	}
	ran := map[graph.ID]bool{}
	for left := executions - 1; ; left-- {
		rep, err := p.Plan.Graph.Execute(ctx, g.targets, o)
		countEarlier(rep, ran)
		if err != nil {
			return rep, nil, err
		}
		results, err := p.Plan.Results(context.WithoutCancel(ctx), p.store, rep, p.run)
		if !isLost(err) || left == 0 || ctx.Err() != nil {
			return rep, results, err
		}
		p.dropDamaged(ctx, rep)
		o.Force = nil // what was forced has run
	}
}

// countEarlier counts nodes that ran in an earlier execution of this run as
// executed though they were fresh in the last one, and notes which ran in it.
func countEarlier(rep *graph.Report, ran map[graph.ID]bool) {
	for _, id := range rep.Nodes {
		switch rep.Status(id).State {
		case event.Cached:
			if ran[id] {
				rep.Cached--
				rep.Executed++
			}
		case event.Done, event.Failed, event.Timeout, event.Broken:
			ran[id] = true
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
			cache.Intact(ctx, p.store, o)
		}
	}
}
