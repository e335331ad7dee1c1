package eval

import (
	"context"
	"errors"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
)

// Transferred counts records that went to, or came from, remote caches.
type Transferred struct {
	Records   int // that are there now
	Remaining int // that are not
	Stale     int // nodes that were asked for and have no answer
}

// Push sends the stored answers of the nodes that a request picks to the remote caches
// that may be written. A run sends what it makes by itself; this sends what was there before.
func Push(ctx context.Context, o Options, r Request) (*Transferred, error) {
	p, nodes, stale, err := stored(ctx, &o, r, Writing)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	t := &Transferred{Stale: stale}
	writable := false
	for _, one := range p.remotes {
		if !one.Writes() {
			continue
		}
		writable = true
		for _, n := range nodes {
			// What is not here a remote cache has.
			if record, err := p.local.Record(ctx, n.key); err == nil && record != nil {
				one.Written(n.key)
			}
		}
		sent, left := one.Flush(ctx)
		t.Records, t.Remaining = t.Records+sent, t.Remaining+left
	}
	if !writable {
		return nil, exit.With(exit.Usage, errors.New(`there is no remote cache to send anything to: give the configuration one with mode = "rw"`))
	}
	return t, context.Cause(ctx)
}

// Pull copies the answers of the nodes that a request picks, with all that they lead to,
// from remote caches to the store of this machine.
func Pull(ctx context.Context, o Options, r Request) (*Transferred, error) {
	p, nodes, stale, err := stored(ctx, &o, r, Writing)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	t := &Transferred{Stale: stale}
	layers, ok := p.store.(*cache.Layered)
	if !ok || len(p.remotes) == 0 {
		return nil, exit.With(exit.Usage, errors.New("there is no remote cache to copy anything from"))
	}
	records := map[cache.Key]*cache.Record{}
	var outputs []cache.Output
	for _, n := range nodes {
		if record, err := layers.Record(ctx, n.key); err == nil && record != nil {
			records[n.key] = record
			outputs = append(outputs, record.Outputs...)
		}
	}
	layers.Fetch(ctx, outputs)
	for _, n := range nodes {
		record, whole := records[n.key], true
		for i := 0; record != nil && whole && i < len(record.Outputs); i++ {
			whole = outputHere(ctx, layers.Upper, record.Outputs[i])
		}
		if record == nil || !whole || layers.Upper.PutRecord(ctx, n.key, record) != nil {
			t.Remaining++
			continue
		}
		t.Records++
	}
	return t, context.Cause(ctx)
}

// outputHere reports whether all blobs of an output are in a store.
func outputHere(ctx context.Context, store cache.Store, o cache.Output) bool {
	if o.Tree {
		return cache.TreeComplete(ctx, store, o.Digest) == nil
	}
	ok, err := store.Has(ctx, o.Digest)
	return ok && err == nil
}

// answered is a node with the key of its stored answer.
type answered struct {
	addr string
	key  cache.Key
}

// stored opens the project and returns the nodes that a request picks and that a run would
// serve, and how many others there are. Nothing is executed.
func stored(ctx context.Context, o *Options, r Request, access Access) (p *Project, nodes []answered, stale int, err error) {
	if p, err = openChanged(ctx, *o, access); err != nil {
		return nil, nil, 0, err
	}
	r.EachNode = true // also the nodes of fresh partitions
	g, err := p.prepare(ctx, r)
	if err != nil {
		return nil, nil, 0, p.closeAfter(err)
	}
	rep, err := p.decide(ctx, g)
	if err != nil {
		return nil, nil, 0, p.closeAfter(err)
	}
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		if st := rep.Status(id); st.State == event.Cached {
			nodes = append(nodes, answered{p.Plan.Graph.Node(id).Addr, st.Key})
		} else {
			stale++
		}
	}
	return p, nodes, stale, nil
}
