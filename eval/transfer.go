package eval

import (
	"context"
	"errors"

	"github.com/fevalgraph/fevalgraph/cache"
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
	p, keys, t, err := o.stored(ctx, r)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	writable := false
	for _, one := range p.remotes {
		if !one.Writes() {
			continue
		}
		writable = true
		for _, k := range keys {
			// What is not here a remote cache has.
			if record, err := p.local.Record(ctx, k); err == nil && record != nil {
				one.Written(k)
			}
		}
		sent, left := one.Flush(ctx)
		t.Records, t.Remaining = t.Records+sent, t.Remaining+left
	}
	if !writable {
		return nil, fail(Usage, errors.New(`there is no remote cache to send anything to: give the configuration one with mode = "rw"`))
	}
	return t, context.Cause(ctx)
}

// Pull copies the answers of the nodes that a request picks, with all that they lead to,
// from remote caches to the store of this machine.
func Pull(ctx context.Context, o Options, r Request) (*Transferred, error) {
	p, keys, t, err := o.stored(ctx, r)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	layers, ok := p.store.(*cache.Layered)
	if !ok || len(p.remotes) == 0 {
		return nil, fail(Usage, errors.New("there is no remote cache to copy anything from"))
	}
	records := map[cache.Key]*cache.Record{}
	var outputs []cache.Output
	for _, k := range keys {
		if record, err := layers.Record(ctx, k); err == nil && record != nil {
			records[k] = record
			outputs = append(outputs, record.Outputs...)
		}
	}
	layers.Fetch(ctx, outputs)
	for _, k := range keys {
		record, whole := records[k], true
		for i := 0; record != nil && whole && i < len(record.Outputs); i++ {
			whole = outputHere(ctx, layers.Upper, record.Outputs[i])
		}
		if record == nil || !whole || layers.Upper.PutRecord(ctx, k, record) != nil {
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

// stored opens the project and returns the keys of the nodes that a request picks and that
// a run would serve. Nothing is executed.
func (o *Options) stored(ctx context.Context, r Request) (*Project, []cache.Key, *Transferred, error) {
	p, err := openChanged(ctx, *o, Writing)
	if err != nil {
		return nil, nil, nil, err
	}
	r.EachNode = true // also the nodes of fresh partitions
	g, err := p.prepare(ctx, r)
	if err != nil {
		return nil, nil, nil, p.closeAfter(err)
	}
	rep, err := p.decide(ctx, g)
	if err != nil {
		return nil, nil, nil, p.closeAfter(err)
	}
	t := &Transferred{}
	var keys []cache.Key
	for _, id := range p.Plan.Graph.Closure(g.targets) {
		if st := rep.Status(id); st.State == event.Cached {
			keys = append(keys, st.Key)
		} else {
			t.Stale++
		}
	}
	return p, keys, t, nil
}
