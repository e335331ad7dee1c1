package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/packs"
	"github.com/fevalgraph/fevalgraph/eval/stores"
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
	return transfer(ctx, &o, r, (*stores.Stores).Push)
}

// Pull copies the answers of the nodes that a request picks, with all that they lead to,
// from remote caches to the store of this machine.
func Pull(ctx context.Context, o Options, r Request) (*Transferred, error) {
	return transfer(ctx, &o, r, (*stores.Stores).Pull)
}

func transfer(ctx context.Context, o *Options, r Request, move func(*stores.Stores, context.Context, []cache.Key) (int, int, error)) (*Transferred, error) {
	f, nodes, stale, err := stored(ctx, o, r, Writing)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var keys []cache.Key
	for _, n := range nodes {
		keys = append(keys, n.Key)
	}
	t := &Transferred{Stale: stale}
	t.Records, t.Remaining, err = move(f.stores, ctx, keys)
	return t, err
}

// PackRequest says what goes into a pack.
type PackRequest struct {
	Request
	File string // to write
	Run  string // whose record a merge reads: an id, or "latest"; "" is none
}

// Pack writes the answers of the nodes that a request picks, and everything that they lead
// to, into a file. It decides like Plan, and leaves out what is stale.
func Pack(ctx context.Context, o Options, r PackRequest) (*packs.Packed, error) {
	f, nodes, stale, err := stored(ctx, &o, r.Request, Reading)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	packed, err := packs.Write(ctx, &o, r.File, f.stores.Store, nodes, f.records, r.Run)
	if err != nil {
		return nil, err
	}
	packed.Stale += stale
	return packed, nil
}

// stored opens the project and returns the nodes that a request picks and that a run would
// serve, and how many others there are. Nothing is executed.
func stored(ctx context.Context, o *Options, r Request, access Access) (f *freshness, nodes []packs.Answered, stale int, err error) {
	if f, err = openChanged(ctx, *o, access); err != nil {
		return nil, nil, 0, err
	}
	r.EachNode = true // also the nodes of fresh partitions
	x, err := f.decide(ctx, r)
	if err != nil {
		return nil, nil, 0, f.closeAfter(err)
	}
	for _, id := range x.nodes() {
		if st := x.rep.Status(id); st.State == event.Cached {
			nodes = append(nodes, packs.Answered{Addr: x.Plan.Graph.Node(id).Addr, Key: st.Key})
		} else {
			stale++
		}
	}
	return f, nodes, stale, nil
}
