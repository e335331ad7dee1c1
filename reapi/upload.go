package reapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Uploader has blobs and trees sent to a server that does not have them. What many callers
// ask for at the same time shares calls, and each blob is sent once. It remembers what the
// server has; when the server turns out to have lost some, Forget makes it ask again. It is
// safe for concurrent use.
type Uploader struct {
	c     *Client
	slots chan struct{} // of rounds under way

	mu    sync.Mutex
	next  *round                  // takes what is asked for; nil when there is none
	going map[cache.Digest]*round // blobs in rounds
	// known are outputs that the server has, trees with all that is in them. When recent has
	// maxKnown, it becomes old, and what was old is forgotten.
	recent, old map[cache.Output]bool
	epoch       int // counts what was forgotten
}

// round is what is sent together.
type round struct {
	from   map[cache.Digest]Source
	done   chan struct{} // closed at its end
	err    error         // of all blobs
	failed map[cache.Digest]error
}

const (
	rounds      = 4       // at once
	maxKnown    = 1 << 19 // about 60 MB, twice
	maxQuestion = 20_000  // blobs in a message
)

// NewUploader returns one that knows nothing of the server yet.
func NewUploader(c *Client) *Uploader {
	return &Uploader{c: c, slots: make(chan struct{}, rounds), going: map[cache.Digest]*round{}, recent: map[cache.Output]bool{}, old: map[cache.Output]bool{}}
}

// Epoch is a number that changes when Forget forgets.
func (u *Uploader) Epoch() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.epoch
}

// Forget makes the uploader ask for everything again, unless it has done so since epoch: the
// one before the upload of what is now missing. Many actions miss blobs of one lost server.
func (u *Uploader) Forget(epoch int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.epoch == epoch {
		u.epoch++
		u.recent, u.old = map[cache.Output]bool{}, map[cache.Output]bool{}
	}
}

// Has tells the uploader what the server has: trees with all that is in them.
func (u *Uploader) Has(outputs ...cache.Output) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, o := range outputs {
		u.know(o)
	}
}

// know needs the lock.
func (u *Uploader) know(o cache.Output) {
	if len(u.recent) >= maxKnown {
		u.recent, u.old = map[cache.Output]bool{}, u.recent
	}
	u.recent[cache.Output{Digest: o.Digest, Tree: o.Tree}] = true
}

// knows needs the lock.
func (u *Uploader) knows(o cache.Output) bool {
	o.Name = ""
	if !u.recent[o] && u.old[o] {
		u.know(o)
	}
	return u.recent[o]
}

// Outputs makes the server have blobs and trees of a store. Of a tree that the server has
// the store needs nothing. What the store lacks is a *cache.MissingError.
func (u *Uploader) Outputs(ctx context.Context, from cache.Store, outputs ...cache.Output) error {
	epoch := u.Epoch()
	var blobs []cache.Digest
	var trees []cache.Output
	seen := map[cache.Output]bool{}
	for _, o := range outputs {
		err := cache.EachBlob(ctx, from, o, seen, func(o cache.Output) error {
			u.mu.Lock()
			defer u.mu.Unlock()
			switch {
			case !o.Tree:
				blobs = append(blobs, o.Digest)
			case u.knows(o):
				return fs.SkipDir
			default:
				blobs, trees = append(blobs, o.Digest), append(trees, o)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := u.Blobs(ctx, from, blobs...); err != nil {
		return err
	}
	if epoch == u.Epoch() {
		u.Has(trees...)
	}
	return nil
}

// Blobs makes the server have blobs.
func (u *Uploader) Blobs(ctx context.Context, from Source, blobs ...cache.Digest) error {
	waits := map[*round][]cache.Digest{}
	u.mu.Lock()
	for _, d := range blobs {
		if d.Size == 0 || u.knows(cache.Output{Digest: d}) { // each server has what is empty
			continue
		}
		r := u.going[d]
		if r == nil {
			r = u.join(d, from)
		}
		waits[r] = append(waits[r], d)
	}
	u.mu.Unlock()
	for r, mine := range waits {
		select {
		case <-r.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if r.err != nil {
			return r.err
		}
		for _, d := range mine {
			if err := r.failed[d]; err != nil {
				return fmt.Errorf("sending blob %s: %w", d, err)
			}
		}
	}
	return nil
}

// join adds a blob to the next round; it needs the lock. A round begins at once, unless as
// many as there may be are under way: it then takes what is asked for meanwhile.
func (u *Uploader) join(d cache.Digest, from Source) *round {
	if u.next == nil {
		r := &round{from: map[cache.Digest]Source{}, done: make(chan struct{}), failed: map[cache.Digest]error{}}
		u.next = r
		go func() {
			u.slots <- struct{}{}
			defer func() { <-u.slots }()
			u.run(r)
		}()
	}
	u.next.from[d] = from
	u.going[d] = u.next
	return u.next
}

// run sends what the server lacks. It belongs to no caller: others wait for it, too.
func (u *Uploader) run(r *round) {
	u.mu.Lock()
	if u.next == r {
		u.next = nil
	}
	epoch := u.epoch
	all := make([]cache.Digest, 0, len(r.from))
	for d := range r.from {
		all = append(all, d)
	}
	u.mu.Unlock()
	r.err = u.send(r, all)
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, d := range all {
		delete(u.going, d)
		if r.err == nil && r.failed[d] == nil && u.epoch == epoch {
			u.know(cache.Output{Digest: d})
		}
	}
	close(r.done)
}

func (u *Uploader) send(r *round, all []cache.Digest) error {
	ctx := context.Background() // calls end with the client
	var missing []cache.Digest
	for some := range slices.Chunk(all, maxQuestion) {
		lacks, err := u.c.Missing(ctx, some)
		if err != nil {
			return err
		}
		missing = append(missing, lacks...)
	}
	refused, err := u.c.Write(ctx, missing, sources(r.from))
	for d, why := range refused {
		if own := (*SourceError)(nil); errors.As(why, &own) {
			why = own.Err
		}
		r.failed[d] = why
	}
	return err
}

// sources have a blob each.
type sources map[cache.Digest]Source

// Open implements Source.
func (s sources) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	from, ok := s[d]
	if !ok { // the server asked for what it was not asked about
		return nil, &cache.MissingError{Digest: d}
	}
	return from.Open(ctx, d)
}
