package remote

import (
	"context"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
)

// finder batches queries for missing blobs: requests that arrive within a short window, or
// while the maximum number of calls is running, share a call.
type finder struct {
	ask  func([]cache.Digest) ([]cache.Digest, error)
	most int           // blobs in a call
	slot chan struct{} // of running calls

	mu   sync.Mutex
	next *question // the next call, or nil
}

// question is a call, with its result.
type question struct {
	blobs map[cache.Digest]bool // true if missing
	done  chan struct{}         // closed when the answer has arrived
	err   error
}

// batchWindow is how long a call waits for further requests.
const batchWindow = time.Millisecond

func newFinder(ask func([]cache.Digest) ([]cache.Digest, error), most int) *finder {
	return &finder{ask: ask, most: most, slot: make(chan struct{}, 8)}
}

// missing reports whether any of the blobs is missing.
func (f *finder) missing(ctx context.Context, blobs []cache.Digest) (bool, error) {
	for len(blobs) > 0 {
		some := blobs[:min(len(blobs), f.most)]
		blobs = blobs[len(some):]
		q := f.join(some)
		select {
		case <-q.done:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if q.err != nil {
			return false, q.err
		}
		for _, d := range some {
			if q.blobs[d] {
				return true, nil
			}
		}
	}
	return false, nil
}

// join adds blobs to the next call.
func (f *finder) join(blobs []cache.Digest) *question {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.next == nil || len(f.next.blobs)+len(blobs) > f.most {
		f.next = &question{blobs: map[cache.Digest]bool{}, done: make(chan struct{})}
		q := f.next
		time.AfterFunc(batchWindow, func() { f.send(q) })
	}
	for _, d := range blobs {
		f.next.blobs[d] = false
	}
	return f.next
}

// send sends the call.
func (f *finder) send(q *question) {
	f.slot <- struct{}{}
	defer func() { <-f.slot }()
	f.mu.Lock()
	if f.next == q {
		f.next = nil
	}
	f.mu.Unlock()
	defer close(q.done)
	all := make([]cache.Digest, 0, len(q.blobs))
	for d := range q.blobs {
		all = append(all, d)
	}
	missing, err := f.ask(all)
	q.err = err
	for _, d := range missing {
		q.blobs[d] = true
	}
}
