package eval

import (
	"context"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/packs"
	"github.com/fevalgraph/fevalgraph/eval/stores"
	"github.com/fevalgraph/fevalgraph/event"
)

// Transferred counts records that were sent to, or received from, remote caches.
type Transferred struct {
	Records   int // records that are there now
	Remaining int // records that are missing
	Stale     int // requested nodes without an answer
}

// Push sends the stored answers of requested nodes to the writable remote caches. Runs send their new answers
// themselves; Push sends earlier ones.
func Push(ctx context.Context, o Options, r Request) (*Transferred, error) {
	return transfer(ctx, &o, r, (*stores.Stores).Push)
}

// Pull copies the answers of requested nodes, with all referenced content, from remote caches to the local
// store.
func Pull(ctx context.Context, o Options, r Request) (*Transferred, error) {
	return transfer(ctx, &o, r, (*stores.Stores).Pull)
}

func transfer(ctx context.Context, o *Options, r Request, move func(*stores.Stores, context.Context, []cache.Key) (int, int, error)) (*Transferred, error) {
	f, nodes, stale, err := storedNodes(ctx, o, r, Writing)
	if err != nil {
		return nil, err
	}
	defer f.call.close()
	var keys []cache.Key
	for _, n := range nodes {
		keys = append(keys, n.Key)
	}
	t := &Transferred{Stale: stale}
	t.Records, t.Remaining, err = move(f.call.stores, ctx, keys)
	return t, err
}

// PackRequest configures a pack.
type PackRequest struct {
	Request
	File string // output path
	Run  string // run whose record is included for a merge: an id or "latest"; "" includes none
}

// Pack writes the answers of requested nodes, with all referenced content, to a file. It decides like Plan, and
// omits stale nodes.
func Pack(ctx context.Context, o Options, r PackRequest) (*packs.Packed, error) {
	f, nodes, stale, err := storedNodes(ctx, &o, r.Request, Reading)
	if err != nil {
		return nil, err
	}
	defer f.call.close()
	packed, err := packs.Write(ctx, &o, r.File, f.call.stores.Store, nodes, f.call.records, r.Run)
	if err != nil {
		return nil, err
	}
	packed.Stale += stale
	return packed, nil
}

// storedNodes opens the project and returns the requested nodes that a run would serve, and the number of other
// requested nodes. It executes nothing.
func storedNodes(ctx context.Context, o *Options, r Request, access Access) (f *freshness, nodes []packs.Answered, stale int, err error) {
	if f, err = openChanged(ctx, *o, access); err != nil {
		return nil, nil, 0, err
	}
	f.call.stores.Insist()
	r.EachNode = true // includes nodes of fresh partitions
	x, err := f.decide(ctx, r)
	if err != nil {
		return nil, nil, 0, f.call.closeAfter(err)
	}
	for _, id := range x.goals.nodes() {
		if st := x.rep.Status(id); st.State == event.Cached {
			nodes = append(nodes, packs.Answered{Addr: x.project.Plan.Graph.Node(id).Addr, Key: st.Key})
		} else {
			stale++
		}
	}
	return f, nodes, stale, nil
}
