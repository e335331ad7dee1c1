package eval

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// Since returns what a plan of the commit that is checked out would find stale after a full run of another
// one. It needs no store: a dry run over the other commit, in which each node has a key, stands for the run.
func Since(ctx context.Context, o Options, r Request, ref string) (d *Decisions, err error) {
	then := &earlierCommit{ref: ref}
	defer func() { err = errors.Join(err, then.remove()) }()
	var f *freshness
	var group errgroup.Group
	group.Go(func() (err error) {
		f, err = openWith(ctx, o, Reading, nil)
		return err
	})
	wrong := then.open(ctx, &o)
	err = group.Wait()
	if err == nil {
		defer f.Close()
	}
	if wrong != nil {
		return nil, then.usage(wrong)
	}
	if err != nil {
		return nil, err
	}
	p, err := f.compileReading(f.Config, newReading(then.changes, f.call, !r.everything()), nil)
	if err != nil {
		return nil, err
	}
	g, err := p.pick(ctx, r)
	if err != nil {
		return nil, err
	}
	was, err := then.answers(ctx, p, g.force)
	if err != nil {
		return nil, err
	}
	rep, err := p.Plan.Graph.Execute(requirements.AsItIs(ctx), g.targets, graph.Options{Store: was, Last: was.last, Run: p.run, Pools: p.Plan.Pools, Preview: graph.Preview{DryRun: true}, Hooks: graph.Hooks{Force: g.force}})
	if err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	d = &Decisions{Jobs: o.RunJobs(), Total: g.count().nodes, Invalid: g.noteInvalid()}
	d.Fresh = d.Total
	if err := (&execution{goals: g, rep: rep}).fill(ctx, d); err != nil {
		return nil, err
	}
	nodes := d.Nodes
	d.Nodes = func(yield func(Decision) bool) {
		for one := range nodes {
			if one.Key = ""; !yield(one) { // it can be of pretended outputs
				return
			}
		}
	}
	return d, nil
}

// answersBefore is a store that has the answer of each node of another commit, and no content.
type answersBefore struct {
	*cache.Memory
	byKey  map[cache.Key]*cache.Record
	byAddr map[string]graph.Last
}

// fill takes over answers of a dry run that pretended.
func (a *answersBefore) fill(g *graph.Graph, rep *graph.Report, nodes []graph.ID) {
	if a.byKey == nil {
		a.byKey, a.byAddr = make(map[cache.Key]*cache.Record, len(nodes)), make(map[string]graph.Last, len(nodes))
	}
	for _, id := range nodes {
		st := rep.Status(id)
		if !st.Stale { // it has no answer
			continue
		}
		a.byKey[st.Key] = &cache.Record{Class: cache.ClassDone, Outputs: st.Outputs, Manifest: st.Manifest}
		addr := g.Node(id).Addr
		a.byAddr[addr] = graph.Last{Addr: addr, Answer: graph.Answer{Key: st.Key, Class: cache.ClassDone, Outputs: st.Outputs}, Store: a.ID()}
	}
}

func (a *answersBefore) last(addr string) graph.Last { return a.byAddr[addr] }

// Has implements cache.Store.
func (a *answersBefore) Has(context.Context, cache.Digest) (bool, error) { return true, nil }

// Record implements cache.Store.
func (a *answersBefore) Record(_ context.Context, k cache.Key) (*cache.Record, error) {
	return a.byKey[k], nil
}
