package gojudge

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache"
)

// destination is a place where one go-judge finds files. Methods are safe for
// concurrent use.
type destination interface {
	// put lays a new file there and returns its name. An error of content's
	// reader comes back as it is.
	put(ctx context.Context, content io.Reader) (name string, err error)
	// drop removes a file. It does not fail: what stays goes with the server.
	drop(name string)
	// file returns the name of a file in requests.
	file(name string) wireFile
}

// uploader leases blobs of a store at a destination. Each is put there once and
// stays for others, until there is too much that is unused.
type uploader struct {
	destination destination
	store       cache.Store
	room        int64 // bytes

	mu   sync.Mutex
	held map[cache.Digest]*lease
	idle *list.List // of *lease that are unused, longest unused first
	size int64
}

// lease is a blob at the destination, or on its way there.
type lease struct {
	digest cache.Digest
	name   string
	users  int
	ready  chan struct{} // closed when name or err is known
	err    error
	at     *list.Element // in idle
	gone   bool          // forgotten: to be dropped when the last user ends
}

func newUploader(s destination, store cache.Store, room int64) *uploader {
	return &uploader{destination: s, store: store, room: room, held: map[cache.Digest]*lease{}, idle: list.New()}
}

// acquire returns the blob as a file that stays until release.
func (d *uploader) acquire(ctx context.Context, digest cache.Digest) (*lease, error) {
	for {
		h, mine := d.reserve(digest)
		if mine {
			h.name, h.err = d.bring(ctx, digest)
			if h.err != nil {
				d.mu.Lock()
				d.remove(h)
				d.mu.Unlock()
			}
			close(h.ready)
		}
		select {
		case <-h.ready:
		case <-ctx.Done():
			d.release(h)
			return nil, context.Cause(ctx)
		}
		switch {
		case h.err == nil:
			return h, nil
		case mine:
			return nil, h.err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		// The one who brought it failed, perhaps because its run was cancelled.
	}
}

// reserve returns the lease of a blob; mine reports whether the caller must bring it.
func (d *uploader) reserve(digest cache.Digest) (h *lease, mine bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h = d.held[digest]
	if h == nil {
		h = &lease{digest: digest, ready: make(chan struct{})}
		d.held[digest] = h
		d.size += digest.Size
		mine = true
	}
	h.users++
	if h.at != nil {
		d.idle.Remove(h.at)
		h.at = nil
	}
	return h, mine
}

func (d *uploader) bring(ctx context.Context, digest cache.Digest) (string, error) {
	content, err := d.store.Open(ctx, digest)
	if err != nil {
		return "", err
	}
	defer content.Close()
	name, err := d.destination.put(ctx, content)
	if err != nil {
		return "", fmt.Errorf("bringing %s to the sandbox: %w", digest, err)
	}
	return name, nil
}

// release ends a lease.
func (d *uploader) release(h *lease) {
	d.mu.Lock()
	h.users--
	switch {
	case h.users > 0:
	case h.gone:
		if h.err == nil && h.name != "" {
			defer d.destination.drop(h.name)
		}
	default:
		h.at = d.idle.PushBack(h)
	}
	excess := d.shrink()
	d.mu.Unlock()
	for _, name := range excess {
		d.destination.drop(name)
	}
}

// wantsBlob reports whether a blob that is at hand should be adopted.
func (d *uploader) wantsBlob(digest cache.Digest) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return digest.Size > 0 && digest.Size <= d.room/8 && d.held[digest] == nil
}

// adopt makes a file that is at the destination already the lease of a blob. It
// reports false when there is one; then the file is still the caller's.
func (d *uploader) adopt(digest cache.Digest, name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held[digest] != nil {
		return false
	}
	h := &lease{digest: digest, name: name, ready: make(chan struct{})}
	close(h.ready)
	d.held[digest] = h
	d.size += digest.Size
	h.at = d.idle.PushBack(h)
	return true
}

// forget drops what the server has lost, so that it is sent again.
func (d *uploader) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.held {
		select {
		case <-h.ready:
		default:
			continue // on its way
		}
		if h.name == name {
			d.remove(h)
			return
		}
	}
}

// remove unlists h; the caller holds mu.
func (d *uploader) remove(h *lease) {
	if d.held[h.digest] != h {
		return
	}
	delete(d.held, h.digest)
	d.size -= h.digest.Size
	h.gone = true
	if h.at != nil {
		d.idle.Remove(h.at)
		h.at = nil
	}
}

// shrink unlists the longest unused until the rest fits, and returns their
// names; the caller holds mu.
func (d *uploader) shrink() []string {
	var names []string
	for d.size > d.room && d.idle.Len() > 0 {
		h := d.idle.Front().Value.(*lease)
		d.remove(h)
		names = append(names, h.name)
	}
	return names
}

// clear unlists all that is unused and drops it.
func (d *uploader) clear() {
	d.mu.Lock()
	var names []string
	for d.idle.Len() > 0 {
		h := d.idle.Front().Value.(*lease)
		d.remove(h)
		names = append(names, h.name)
	}
	d.mu.Unlock()
	for _, name := range names {
		d.destination.drop(name)
	}
}
