package cache

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
)

// Memory is a Store in memory, for tests and for work that must leave no
// trace. Within a process, it has the same guarantees as Disk.
type Memory struct {
	id      string
	mu      sync.Mutex
	blobs   map[Digest][]byte
	records map[Key][]byte // encoded, so that callers never share a Record
	locks   map[Key]bool
}

var _ Store = (*Memory)(nil)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{id: rand.Text(), blobs: map[Digest][]byte{}, records: map[Key][]byte{}, locks: map[Key]bool{}}
}

// ID implements Store.
func (m *Memory) ID() string { return m.id }

// Put implements Store.
func (m *Memory) Put(ctx context.Context, r io.Reader) (Digest, error) {
	var b bytes.Buffer
	g, err := sum(ctx, &b, r)
	if err != nil {
		return Digest{}, fmt.Errorf("storing blob: %w", err)
	}
	m.keep(g, b.Bytes())
	return g, nil
}

func (m *Memory) keep(g Digest, b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[g] = b
}

// PutFile stores a file, as Disk.PutFile does.
func (m *Memory) PutFile(ctx context.Context, path string, want *Digest) (Digest, error) {
	src, err := openSource(path)
	if err != nil {
		return Digest{}, fmt.Errorf("storing file: %w", err)
	}
	defer src.Close()
	var b bytes.Buffer
	g, err := sum(ctx, &b, src)
	if err == nil {
		err = src.check(g, want)
	}
	if err != nil {
		return Digest{}, fmt.Errorf("storing file: %w", err)
	}
	m.keep(g, b.Bytes())
	return g, nil
}

// Open implements Store.
func (m *Memory) Open(ctx context.Context, g Digest) (io.ReadCloser, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[g]
	if !ok {
		return nil, &MissingError{Digest: g}
	}
	return &verifyingReader{
		f:    io.NopCloser(bytes.NewReader(b)),
		want: g,
		hash: sha256.New(),
		drop: func() { m.forget(g) },
	}, nil
}

func (m *Memory) forget(g Digest) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.blobs, g)
}

// Has implements Store.
func (m *Memory) Has(ctx context.Context, g Digest) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.blobs[g]
	return ok, nil
}

// Record implements Store.
func (m *Memory) Record(ctx context.Context, k Key) (*Record, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.records[k]
	if !ok {
		return nil, nil
	}
	r, err := DecodeRecord(nil, k, b)
	if errors.Is(err, errBadRecord) {
		delete(m.records, k)
		return nil, nil
	}
	return r, err
}

// PutRecord implements Store; see Disk.PutRecord.
func (m *Memory) PutRecord(ctx context.Context, k Key, r *Record) error {
	b, err := EncodeRecord(nil, k, r)
	if err == nil {
		err = checkOutputs(ctx, m, r)
	}
	if err != nil {
		return fmt.Errorf("storing record %s: %w", k, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.records[k] = b
	return nil
}

// Lock locks a key, as Disk.Lock does.
func (m *Memory) Lock(ctx context.Context, k Key) (release func(), ok bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return nil, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locks[k] {
		return nil, false, nil
	}
	m.locks[k] = true
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.locks, k)
	}), true, nil
}
