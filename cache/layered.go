package cache

import (
	"context"
	"errors"
	"io"
)

// Lower is a store that a Layered reads if its own disk lacks an answer. Its methods are those of Store;
// on failures, it reports content as missing.
type Lower interface {
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)
	Has(ctx context.Context, d Digest) (bool, error)
	Record(ctx context.Context, k Key) (*Record, error)
}

// Fetcher is a remote Lower, from which reading many blobs at a time is faster than one by one. Blobs that
// it cannot fetch are missing later.
type Fetcher interface {
	Fetch(ctx context.Context, outputs []Output)
}

// Layered reads from a disk and then from other stores, in order, and writes to the first. So a run can
// use a store that it must not change, or a cache on another machine, and keep results on its own disk.
// The caller must close the stores.
type Layered struct {
	Upper *Disk   // written and read
	Lower []Lower // read if Upper lacks content; a *Disk is usually ReadOnly
	// Places, if not nil, is a semaphore for concurrent reads of records from a disk, if many callers wait for
	// a remote store: each read takes a descriptor.
	Places chan struct{}
	// Written, if not nil, is called for each stored record.
	Written func(Key)
}

var (
	_ Store   = (*Layered)(nil)
	_ Fetcher = (*Layered)(nil)
	_ Lower   = (*Disk)(nil)
)

// ID implements Store. Answers in Lower count as answers in Upper.
func (l *Layered) ID() string { return l.Upper.ID() }

// Put implements Store. It does not store blobs that Lower has.
func (l *Layered) Put(ctx context.Context, r io.Reader) (Digest, error) { return l.Upper.Put(ctx, r) }

// PutFile stores a file in the upper disk.
func (l *Layered) PutFile(ctx context.Context, path string, want *Digest) (Digest, error) {
	return l.Upper.PutFile(ctx, path, want)
}

// Open implements Store.
func (l *Layered) Open(ctx context.Context, d Digest) (io.ReadCloser, error) {
	r, err := l.Upper.Open(ctx, d)
	for _, lower := range l.Lower {
		if !isMissing(err) {
			break
		}
		r, err = lower.Open(ctx, d)
	}
	return r, err
}

func isMissing(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing)
}

// Has implements Store.
func (l *Layered) Has(ctx context.Context, d Digest) (bool, error) {
	ok, err := l.Upper.Has(ctx, d)
	for _, lower := range l.Lower {
		if ok || err != nil {
			break
		}
		ok, err = lower.Has(ctx, d)
	}
	return ok, err
}

// Record implements Store. A foreign record in one store does not hide an answer in another.
func (l *Layered) Record(ctx context.Context, k Key) (*Record, error) {
	r, err := l.record(ctx, l.Upper, k)
	var foreign *ForeignError
	for _, lower := range l.Lower {
		if r != nil || err != nil && !errors.As(err, &foreign) {
			return r, err
		}
		if below, lowerErr := l.record(ctx, lower, k); below != nil || lowerErr != nil {
			r, err = below, lowerErr
		}
	}
	return r, err
}

func (l *Layered) record(ctx context.Context, from Lower, k Key) (*Record, error) {
	if _, ok := from.(*Disk); ok && l.Places != nil {
		l.Places <- struct{}{}
		defer func() { <-l.Places }()
	}
	return from.Record(ctx, k)
}

// Fetch implements Fetcher: it copies the blobs of outputs from Fetchers to the upper disk.
func (l *Layered) Fetch(ctx context.Context, outputs []Output) {
	for _, lower := range l.Lower {
		if far, ok := lower.(Fetcher); ok {
			far.Fetch(ctx, outputs)
		}
	}
}

// PutRecord implements Store. The record's blobs can be in any of the stores, so blobs that only a lower
// store has are copied first.
func (l *Layered) PutRecord(ctx context.Context, k Key, r *Record) error {
	if r == nil {
		return l.Upper.PutRecord(ctx, k, r) // refuses it
	}
	for _, o := range r.Outputs {
		if err := l.copyUp(ctx, o.Digest); err != nil {
			return err
		}
	}
	err := l.Upper.PutRecord(ctx, k, r)
	if err == nil && l.Written != nil {
		l.Written(k)
	}
	return err
}

func (l *Layered) copyUp(ctx context.Context, d Digest) error {
	if ok, err := l.Upper.Has(ctx, d); ok || err != nil {
		return err
	}
	r, err := l.Open(ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = l.Upper.Put(ctx, r)
	return err
}

// Lock locks a key in the upper disk.
func (l *Layered) Lock(ctx context.Context, k Key) (release func(), ok bool, err error) {
	return l.Upper.Lock(ctx, k)
}
