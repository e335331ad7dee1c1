package cache

import (
	"context"
	"errors"
	"io"
)

// Lower is a store that a Layered reads when its own disk has no answer. Its methods are
// those of Store; what it cannot find out is missing.
type Lower interface {
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)
	Has(ctx context.Context, d Digest) (bool, error)
	Record(ctx context.Context, k Key) (*Record, error)
}

// Fetcher is a Lower that is far away: reading much of it at once is faster than piece by
// piece. What it cannot fetch is missing later.
type Fetcher interface {
	Fetch(ctx context.Context, outputs []Output)
}

// Layered reads from a disk and then from others, in order, and writes to the first: a run
// against a store that it may not change keeps its own work apart, and one with a cache on
// another machine keeps what it got from there. All are used as they are; closing and
// removing them is the caller's business.
type Layered struct {
	Upper *Disk   // written and read
	Lower []Lower // read when Upper does not have it; a *Disk is usually ReadOnly
	// Places, unless it is nil, has one for each record of a disk that can be read at once,
	// where many wait for a store that is far away: each takes a descriptor.
	Places chan struct{}
	// Written, unless it is nil, learns of each record that was stored.
	Written func(Key)
}

var (
	_ Store   = (*Layered)(nil)
	_ Fetcher = (*Layered)(nil)
	_ Lower   = (*Disk)(nil)
)

// ID implements Store. What is found in Lower is as good as in Upper.
func (l *Layered) ID() string { return l.Upper.ID() }

// Put implements Store. What Lower has is not stored again.
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

// Record implements Store. A foreign record of one store hides no answer of another.
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

// Fetch implements Fetcher: it copies what outputs consist of to the upper disk, as far as
// that comes from far away.
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
