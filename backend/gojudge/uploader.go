package gojudge

import (
	"container/list"
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/fevalgraph/fevalgraph/cache"
)

// destination stores files for one go-judge. Methods are safe for concurrent
// use.
type destination interface {
	// put stores a new file and returns its name. An error of content's reader is
	// returned unchanged.
	put(ctx context.Context, content io.Reader) (name string, err error)
	// drop removes a file. It is best effort: remaining files are removed with the
	// server.
	drop(name string)
	// file returns the reference to a file in requests.
	file(name string) wireFile
}

// uploader leases blobs of a store at a destination. Each is sent once and
// stays for other users, until unused blobs exceed room.
type uploader struct {
	destination destination
	store       cache.Store
	room        int64 // bytes

	mu   sync.Mutex
	held map[cache.Digest]*lease
	idle *list.List // unused *lease values, longest unused first
	size int64
}

// lease is a blob at the destination, or in transfer to it.
type lease struct {
	digest    cache.Digest
	name      string
	users     int
	ready     chan struct{} // closed when name or err is set
	err       error
	element   *list.Element // position in idle
	forgotten bool          // forgotten: to be dropped when the last user ends
}

func newUploader(s destination, store cache.Store, room int64) *uploader {
	return &uploader{destination: s, store: store, room: room, held: map[cache.Digest]*lease{}, idle: list.New()}
}

// acquire returns the blob as a file that stays until release.
func (d *uploader) acquire(ctx context.Context, digest cache.Digest) (*lease, error) {
	for {
		h, mine := d.reserve(digest)
		if mine {
			h.name, h.err = d.upload(ctx, digest)
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
		// The caller that sent it failed, perhaps because its run was cancelled.
	}
}

// reserve returns the lease of a blob; mine reports whether the caller must send it.
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
	if h.element != nil {
		d.idle.Remove(h.element)
		h.element = nil
	}
	return h, mine
}

func (d *uploader) upload(ctx context.Context, digest cache.Digest) (string, error) {
	content, err := d.store.Open(ctx, digest)
	if err != nil {
		return "", err
	}
	defer content.Close()
	name, err := d.destination.put(ctx, content)
	if err != nil {
		return "", fmt.Errorf("sending %s to the sandbox: %w", digest, err)
	}
	return name, nil
}

// release ends a lease.
func (d *uploader) release(h *lease) {
	d.mu.Lock()
	h.users--
	switch {
	case h.users > 0:
	case h.forgotten:
		if h.err == nil && h.name != "" {
			defer d.destination.drop(h.name)
		}
	default:
		h.element = d.idle.PushBack(h)
	}
	excess := d.shrink()
	d.mu.Unlock()
	for _, name := range excess {
		d.destination.drop(name)
	}
}

// wantsBlob reports whether an available blob should be adopted.
func (d *uploader) wantsBlob(digest cache.Digest) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return digest.Size > 0 && digest.Size <= d.room/8 && d.held[digest] == nil
}

// adopt creates a lease of a blob from a file that is already at the
// destination. If a lease exists, it returns false, and the caller keeps the
// file.
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
	h.element = d.idle.PushBack(h)
	return true
}

// forget drops the leases of lost files, so that they are sent again.
func (d *uploader) forget(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range d.held {
		select {
		case <-h.ready:
		default:
			continue // in transfer
		}
		if h.name == name {
			d.remove(h)
			return
		}
	}
}

// remove removes h from the lists; the caller must hold mu.
func (d *uploader) remove(h *lease) {
	if d.held[h.digest] != h {
		return
	}
	delete(d.held, h.digest)
	d.size -= h.digest.Size
	h.forgotten = true
	if h.element != nil {
		d.idle.Remove(h.element)
		h.element = nil
	}
}

// shrink removes the longest unused leases until the rest fits, and returns
// their names; the caller must hold mu.
func (d *uploader) shrink() []string {
	var names []string
	for d.size > d.room && d.idle.Len() > 0 {
		h := d.idle.Front().Value.(*lease)
		d.remove(h)
		names = append(names, h.name)
	}
	return names
}

// clear drops all unused leases.
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
