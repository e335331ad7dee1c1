package eval

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"
)

// Since returns what a plan of the commit that is checked out would find stale after a full run of another
// one. It needs no store.
func Since(ctx context.Context, o Options, r Request, ref string) (d *Decisions, err error) {
	f, err := openWith(ctx, o, Reading, nil)
	if err != nil {
		return nil, err
	}
	defer f.call.close()
	var old *version
	var g *goals
	root, state, remove := f.call.Config.Root, f.call.state, func() error { return nil }
	defer func() { err = errors.Join(err, remove()) }()
	group, both := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		old, remove, err = earlierVersion(both, o, ref, root, state)
		return err
	})
	group.Go(func() error {
		p, err := f.compile(both, true)
		if err == nil {
			g, err = p.pick(both, r)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	now := &version{plan: g.project.Plan, targets: g.targets, force: g.force}
	if err := now.decide(ctx, old); err != nil {
		return nil, err
	}
	d = &Decisions{Jobs: o.RunJobs(), Total: g.count().nodes, Invalid: g.noteInvalid()}
	d.Fresh = d.Total
	if err := newExecution(g, now.rep).fill(ctx, d); err != nil {
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
