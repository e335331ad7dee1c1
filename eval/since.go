package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/report/text"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// Since returns what a plan of the commit that is checked out would find stale after a full run of another
// one. It needs no store: a dry run over the other commit, in which each node has a key, stands for the run.
func Since(ctx context.Context, o Options, r Request, ref string) (d *Decisions, err error) {
	before, err := checkOut(ctx, &o, ref)
	if err != nil {
		return nil, exit.With(exit.Usage, fmt.Errorf("--since %s: %w", ref, err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Dir(before.dir))) }()
	f, err := openWith(ctx, o, Reading, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var p *Project
	was := &answersBefore{Memory: cache.NewMemory()}
	var group errgroup.Group
	group.Go(func() error { return was.pretend(ctx, before, f) })
	group.Go(func() (err error) {
		p, err = f.compile(ctx, true)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	g, err := p.pick(ctx, r)
	if err != nil {
		return nil, err
	}
	rep, err := p.Plan.Graph.Execute(requirements.AsItIs(ctx), g.targets, graph.Options{Store: was, Last: was.last, Run: p.run, Pools: p.Plan.Pools, DryRun: true, Force: g.force})
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
	for i := range d.Nodes {
		d.Nodes[i].Key = "" // it can be of pretended outputs
	}
	return d, nil
}

// answersBefore is a store that has the answer of each node of another commit, and no content.
type answersBefore struct {
	*cache.Memory
	byKey  map[cache.Key]*cache.Record
	byAddr map[string]graph.Last
}

// pretend fills in the answers that a run of a checkout would have. now is the project as it is.
func (a *answersBefore) pretend(ctx context.Context, at *checkedOut, now *freshness) error {
	other, err := at.options(now.options)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	other.LookupEnv, other.Notify = now.secretEnv, nil
	f, err := openWith(ctx, other, Reading, nil)
	var mistakes diag.List
	if errors.As(err, &mistakes) { // as text: these are not errors of the project
		return exit.With(exit.Usage, fmt.Errorf("the configuration at %s has errors, so comparing is not possible: %s", at.ref, text.FirstLine(mistakes.Error())))
	}
	if err != nil {
		return fmt.Errorf("opening the project at %s: %w", at.ref, err)
	}
	defer f.Close()
	f.trust = now.trust
	was, err := f.compile(ctx, true)
	if err != nil {
		return err
	}
	rep, err := was.Plan.Graph.Execute(requirements.AsItIs(ctx), was.everyNode(), graph.Options{
		Store: was.stores.Store, Run: was.run, Pools: was.Plan.Pools, DryRun: true, Pretend: true, Rename: strings.NewReplacer(was.Config.Root, now.Config.Root, at.dir, at.top),
	})
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	a.fill(was.Plan.Graph, rep)
	return context.Cause(ctx)
}

// fill takes over the answers of a dry run that pretended.
func (a *answersBefore) fill(g *graph.Graph, rep *graph.Report) {
	a.byKey, a.byAddr = make(map[cache.Key]*cache.Record, len(rep.Nodes)), make(map[string]graph.Last, len(rep.Nodes))
	for _, id := range rep.Nodes {
		st := rep.Status(id)
		if !st.Stale || st.Category == event.CauseHoles { // it has no answer
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
