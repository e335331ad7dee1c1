package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// Store keeps blobs by content and action records by key. Implementations are safe for concurrent use by
// goroutines and, for Disk, by processes. Both halves are write-once: a digest always names the same
// bytes, and a record can be replaced only by a later answer for the same key.
type Store interface {
	// ID identifies the store during its lifetime: a store that was removed and created again at the same path
	// has another ID.
	ID() string
	// Put stores the content of r and returns its digest. The blob becomes visible only when it is complete.
	Put(ctx context.Context, r io.Reader) (Digest, error)
	// Open returns a verifying reader of the blob: if the content does not match the digest, Read returns a
	// *CorruptError instead of io.EOF, and the store drops the blob. For a missing blob, Open returns a
	// *MissingError.
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)
	// Has reports whether the blob is present, without reading it.
	Has(ctx context.Context, d Digest) (bool, error)
	// Record returns the record of k, or nil if it is missing. A record that cannot be decoded or has a wrong
	// checksum is dropped and reads as nil. If the store's key did not sign the record, the error is a
	// *ForeignError.
	Record(ctx context.Context, k Key) (*Record, error)
	// PutRecord stores r as the answer for k. Its blobs must be stored before.
	PutRecord(ctx context.Context, k Key, r *Record) error
}

// Class describes how stored work ended. Broken work is never stored, so it has no class.
type Class string

const (
	ClassDone    Class = "done"    // the work ran to its end
	ClassFailed  Class = "failed"  // the work itself failed
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
	// Manifest hashes to the key. It is stored to explain why a later key differs; nil if it was not stored.
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

// MissingError reports that the store lacks a blob.
type MissingError struct{ Digest Digest }

func (e *MissingError) Error() string { return fmt.Sprintf("blob %s is not in the store", e.Digest) }

// CorruptError reports that the content of a stored blob did not match its digest. The store has dropped
// the blob.
type CorruptError struct{ Digest Digest }

func (e *CorruptError) Error() string {
	return fmt.Sprintf("blob %s was corrupt in the store and has been dropped", e.Digest)
}

// IsLost reports whether an error is about a blob that the store lacks, or that was corrupt.
func IsLost(err error) bool {
	return errors.As(err, new(*MissingError)) || errors.As(err, new(*CorruptError))
}

// PutBytes stores b.
func PutBytes(ctx context.Context, s Store, b []byte) (Digest, error) {
	return s.Put(ctx, bytes.NewReader(b))
}

// ReadBlob returns a verified blob. It returns an error if the blob exceeds limit bytes; a negative limit
// means no limit.
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
