package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/cache"
)

// uploads holds the records to send, and their senders.
type uploads struct {
	mu      sync.Mutex
	queue   chan cache.Key
	ended   bool
	workers sync.WaitGroup
	done    chan struct{} // closed when the workers have ended
	open    atomic.Int64  // records that are neither sent nor refused
	unsent  atomic.Int64  // number of records that were not sent
	sent    atomic.Int64

	unsigned atomic.Int64 // number of records without a key to sign them
}

const (
	maxQueue    = 1 << 17 // records; the queue contains only their keys
	maxTogether = 256     // records that are sent together
	senders     = 2
	putters     = 64 // concurrent entries of a sender
)

func (s *Store) startUploads() {
	u := &s.uploads
	u.queue, u.done = make(chan cache.Key, maxQueue), make(chan struct{})
	for range senders {
		u.workers.Go(func() {
			for k := range u.queue {
				keys := u.enqueue([]cache.Key{k})
				sent := s.send(keys)
				u.sent.Add(int64(sent))
				u.unsent.Add(int64(len(keys) - sent))
				u.open.Add(-int64(len(keys)))
			}
		})
	}
	go func() {
		u.workers.Wait()
		close(u.done)
	}()
}

// enqueue adds waiting keys, without blocking.
func (u *uploads) enqueue(keys []cache.Key) []cache.Key {
	for len(keys) < maxTogether {
		select {
		case k, ok := <-u.queue:
			if !ok {
				return keys
			}
			keys = append(keys, k)
		default:
			return keys
		}
	}
	return keys
}

// endUploads ends the senders after their current records.
func (s *Store) endUploads() {
	u := &s.uploads
	if u.queue == nil {
		return
	}
	u.closeQueue()
	<-u.done
}

// closeQueue closes the queue.
func (u *uploads) closeQueue() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.ended {
		u.ended = true
		close(u.queue)
	}
}

// Written sends a record that is in the local store with all its blobs, in the background.
func (s *Store) Written(k cache.Key) {
	u := &s.uploads
	u.mu.Lock()
	defer u.mu.Unlock()
	if s.o.Write && s.o.Signer == nil {
		u.unsigned.Add(1)
	}
	if u.queue == nil || u.ended {
		return
	}
	select {
	case u.queue <- k:
		u.open.Add(1)
	default:
		u.unsent.Add(1)
	}
}

// Flush waits until all records are sent, or the cache is abandoned, or ctx ends, and warns if some are
// left. It returns how many were sent and how many were not. Written must not be called afterwards.
func (s *Store) Flush(ctx context.Context) (sent, left int) {
	u := &s.uploads
	if u.queue == nil {
		return 0, 0
	}
	u.closeQueue()
	s.writes.wait()
	defer s.writes.leave()
	select {
	case <-u.done:
	case <-s.writes.ctx.Done():
	case <-ctx.Done():
		s.writes.end(context.Cause(ctx))
	}
	<-u.done
	sent, left = int(u.sent.Load()), int(u.unsent.Load())
	if why := s.writes.reason(); left > 0 && why != nil {
		s.warn(fmt.Errorf("%d of %d results were not sent to it: %w", left, sent+left, why))
	} else if left > 0 {
		s.warn(fmt.Errorf("%d of %d results were not sent to it, because their blobs are gone or too many were waiting", left, sent+left))
	}
	return sent, left
}

// Pending returns how many records are still to be sent.
func (s *Store) Pending() int { return int(s.uploads.open.Load()) }

// upload is a record with its blobs.
type upload struct {
	key    cache.Key
	record *cache.Record
	blobs  []cache.Digest
}

// send sends records, their blobs first, and returns how many the server now has.
func (s *Store) send(keys []cache.Key) int {
	if !s.writes.open() {
		return 0
	}
	ctx := s.writes.ctx
	var all []upload
	var blobs []cache.Digest
	for _, k := range keys {
		r, err := s.o.Local.Record(ctx, k)
		if err != nil || r == nil {
			continue
		}
		u := upload{key: k, record: r}
		if u.blobs, err = s.blobsOf(ctx, r); err == nil {
			all, blobs = append(all, u), append(blobs, u.blobs...)
		}
	}
	refused, err := s.sender.Send(ctx, s.o.Local, blobs...)
	if err != nil {
		return 0
	}
	var sent atomic.Int64
	var group errgroup.Group
	group.SetLimit(putters)
	for _, u := range all {
		if slices.ContainsFunc(u.blobs, func(d cache.Digest) bool { return refused[d] != nil }) {
			continue
		}
		group.Go(func() error {
			if s.sendEntry(ctx, u) == nil {
				sent.Add(1)
			}
			return nil
		})
	}
	_ = group.Wait()
	return int(sent.Load())
}

// blobsOf returns all blobs of a record, the roots of its outputs first. Missing directories in the local
// store are an error.
func (s *Store) blobsOf(ctx context.Context, r *cache.Record) (all []cache.Digest, err error) {
	seen := map[cache.Digest]bool{}
	add := func(o cache.Output) error {
		if !seen[o.Digest] {
			seen[o.Digest] = true
			all = append(all, o.Digest)
		}
		return nil
	}
	for _, o := range r.Outputs {
		add(o)
	}
	walked := map[cache.Output]bool{}
	for _, o := range r.Outputs {
		if err := cache.EachBlob(ctx, s.o.Local, o, walked, add); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// server implements cache.Server.
type server struct{ s *Store }

// Missing implements cache.Server.
func (to server) Missing(ctx context.Context, blobs []cache.Digest) (lacks []cache.Digest, err error) {
	err = to.s.writes.try(ctx, func(ctx context.Context, _ func(int64)) (err error) {
		lacks, err = to.s.transport.Missing(ctx, blobs)
		return err
	})
	return lacks, err
}

// Put implements cache.Server.
func (to server) Put(ctx context.Context, blobs []cache.Digest, from cache.Source) (failed map[cache.Digest]error, err error) {
	err = to.s.writes.try(ctx, func(ctx context.Context, progress func(int64)) (err error) {
		failed, err = to.s.transport.Put(ctx, blobs, source{from, progress})
		return err
	})
	for _, why := range failed {
		var own *cache.SourceError // not the server's fault
		if !errors.As(why, &own) {
			to.s.writes.failed(why)
		}
	}
	return failed, err
}

func (s *Store) sendEntry(ctx context.Context, u upload) error {
	e, err := encodeEntry(s.o.Signer, s.o.Namespace, u.key, u.record, u.blobs)
	if err != nil {
		return err
	}
	return s.writes.try(ctx, func(ctx context.Context, _ func(int64)) error {
		if keep, err := s.keepsEntry(ctx, u.key); keep || err != nil {
			return err
		}
		return s.transport.PutEntry(ctx, entryID(s.o.Namespace, u.key), e)
	})
}

// keepsEntry reports whether the server has an entry that must not be replaced: a trusted entry with all
// of its blobs.
func (s *Store) keepsEntry(ctx context.Context, k cache.Key) (bool, error) {
	if s.preserved == nil {
		return false, nil
	}
	e, err := s.transport.Entry(ctx, entryID(s.o.Namespace, k))
	if err != nil || e == nil {
		return false, err
	}
	_, blobs, err := decodeEntry(s.preserved, s.o.Namespace, k, e)
	if err != nil {
		return false, nil // it is useless for clients that trust these keys
	}
	missing, err := s.transport.Missing(ctx, slices.DeleteFunc(blobs, func(d cache.Digest) bool { return d.Size == 0 }))
	return err == nil && len(missing) == 0, err
}

// source reports the bytes of sent blobs.
type source struct {
	cache.Source
	progress func(int64)
}

// Open implements cache.Source.
func (s source) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	r, err := s.Source.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{&counter{r: r, progress: s.progress}, r}, nil
}
