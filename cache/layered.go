package cache

import (
	"context"
	"errors"
	"io"
)

// Layered reads from two disks and writes to the first: a run against a store
// that it may not change keeps its own work apart. Both are used as they are;
// closing and removing them is the caller's business.
type Layered struct {
	Upper *Disk // written and read
	Lower *Disk // read when Upper does not have it; usually ReadOnly
}

var _ Store = (*Layered)(nil)

// ID implements Store. What is found in Lower is as good as in Upper.
func (l *Layered) ID() string { return l.Upper.ID() }

// Put implements Store. What Lower has is not stored again.
func (l *Layered) Put(ctx context.Context, r io.Reader) (Digest, error) { return l.Upper.Put(ctx, r) }

// PutFile is Disk.PutFile of the upper disk.
func (l *Layered) PutFile(ctx context.Context, path string, want *Digest) (Digest, error) {
	return l.Upper.PutFile(ctx, path, want)
}

// Open implements Store.
func (l *Layered) Open(ctx context.Context, d Digest) (io.ReadCloser, error) {
	r, err := l.Upper.Open(ctx, d)
	var missing *MissingError
	if errors.As(err, &missing) {
		return l.Lower.Open(ctx, d)
	}
	return r, err
}

// Has implements Store.
func (l *Layered) Has(ctx context.Context, d Digest) (bool, error) {
	if ok, err := l.Upper.Has(ctx, d); ok || err != nil {
		return ok, err
	}
	return l.Lower.Has(ctx, d)
}

// Record implements Store.
func (l *Layered) Record(ctx context.Context, k Key) (*Record, error) {
	r, err := l.Upper.Record(ctx, k)
	var foreign *ForeignError
	if r != nil || err != nil && !errors.As(err, &foreign) {
		return r, err
	}
	if below, lowerErr := l.Lower.Record(ctx, k); below != nil || lowerErr != nil {
		return below, lowerErr
	}
	return nil, err
}

// PutRecord implements Store. The record's blobs may be in either disk, so
// those that only Lower has are copied first.
func (l *Layered) PutRecord(ctx context.Context, k Key, r *Record) error {
	if r == nil {
		return l.Upper.PutRecord(ctx, k, r) // refuses it
	}
	for _, o := range r.Outputs {
		if err := l.copyUp(ctx, o.Digest); err != nil {
			return err
		}
	}
	return l.Upper.PutRecord(ctx, k, r)
}

func (l *Layered) copyUp(ctx context.Context, d Digest) error {
	if ok, err := l.Upper.Has(ctx, d); ok || err != nil {
		return err
	}
	r, err := l.Lower.Open(ctx, d)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = l.Upper.Put(ctx, r)
	return err
}

// Lock is Disk.Lock of the upper disk.
func (l *Layered) Lock(ctx context.Context, k Key) (release func(), ok bool, err error) {
	return l.Upper.Lock(ctx, k)
}
