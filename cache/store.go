package cache

import (
	"bytes"
	"context"
	"fmt"
	"io"
)

// Store keeps blobs by content and action records by key. Implementations are
// safe for concurrent use by goroutines and, for Disk, by processes. Both
// halves are write-once: the same digest always names the same bytes, and a
// record can be replaced only by a later answer to the same question.
type Store interface {
	// ID names the store, for as long as it exists: a store that was removed and
	// made again at the same place has another ID.
	ID() string
	// Put stores what r yields and returns its digest. The blob is visible
	// only when it is whole.
	Put(ctx context.Context, r io.Reader) (Digest, error)
	// Open returns the blob's bytes. The reader verifies while it is read: at
	// the end of a blob whose bytes do not match, Read returns a
	// *CorruptError instead of io.EOF and the store drops the blob.
	// A blob that is not there is a *MissingError.
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)
	// Has reports whether the blob is present, without reading it.
	Has(ctx context.Context, d Digest) (bool, error)
	// Record returns the record of k, or nil if it is missing. A record that does not decode or whose
	// checksum is wrong is dropped and reads as nil. A record that the store's key did not sign is a
	// *ForeignError.
	Record(ctx context.Context, k Key) (*Record, error)
	// PutRecord makes r the answer for k. Its blobs must have been Put before.
	PutRecord(ctx context.Context, k Key, r *Record) error
}

// Class describes how stored work ended. Broken work is never stored, so it has no class.
type Class string

const (
	ClassDone    Class = "done"    // the work ran to its end
	ClassFailed  Class = "failed"  // the work itself said no
	ClassTimeout Class = "timeout" // a limit that is part of the key ended it
)

// Output is a named result of a node.
type Output struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
	Tree   bool   `json:"tree,omitempty"` // Digest names a REAPI Directory
}

// Record is the stored answer for one key.
type Record struct {
	Class    Class    `json:"class"`
	Outputs  []Output `json:"outputs"`
	Message  string   `json:"message,omitempty"`
	Attempts int      `json:"attempts"`
	Seconds  float64  `json:"seconds"`
	Run      string   `json:"run"` // id of the run that made it
	// Manifest hashes to the key. It is kept to explain later why the next key differs; nil if it was not
	// kept.
	Manifest []byte `json:"-"`
}

// Output returns the output called name.
func (r *Record) Output(name string) (Output, bool) {
	for _, o := range r.Outputs {
		if o.Name == name {
			return o, true
		}
	}
	return Output{}, false
}

// MissingError reports that a blob is not in the store.
type MissingError struct{ Digest Digest }

func (e *MissingError) Error() string { return fmt.Sprintf("blob %s is not in the store", e.Digest) }

// CorruptError reports that a stored blob's bytes did not match its digest. The
// blob has been dropped.
type CorruptError struct{ Digest Digest }

func (e *CorruptError) Error() string {
	return fmt.Sprintf("blob %s was corrupt in the store and has been dropped", e.Digest)
}

// PutBytes stores b.
func PutBytes(ctx context.Context, s Store, b []byte) (Digest, error) {
	return s.Put(ctx, bytes.NewReader(b))
}

// ReadBlob returns the whole verified blob; it refuses one of more than limit
// bytes (limit < 0: none).
func ReadBlob(ctx context.Context, s Store, d Digest, limit int64) ([]byte, error) {
	if limit >= 0 && d.Size > limit {
		return nil, fmt.Errorf("blob %s is larger than the limit of %d bytes", d, limit)
	}
	r, err := s.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}
