package cache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Digest identifies content by SHA-256 and size, as in the Remote Execution
// API.
type Digest struct {
	Hash [sha256.Size]byte
	Size int64 // bytes
}

// Key is the SHA-256 of a node's manifest. It has a separate type since it
// must not be compared with a Digest.
type Key [sha256.Size]byte

// SumBytes returns the digest of b.
func SumBytes(b []byte) Digest {
	return Digest{Hash: sha256.Sum256(b), Size: int64(len(b))}
}

// Hex returns the 64 lower-case hexadecimal digits of the hash.
func (d Digest) Hex() string { return hex.EncodeToString(d.Hash[:]) }

// IsZero reports whether d is unset.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns "<64 hex>/<size>", the form that ParseDigest reads.
func (d Digest) String() string { return d.Hex() + "/" + strconv.FormatInt(d.Size, 10) }

// MarshalText writes the form of String.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the form of String.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}

// ParseDigest reads "<64 hex>/<size>".
func ParseDigest(s string) (Digest, error) {
	hash, size, found := strings.Cut(s, "/")
	var d Digest
	if !found || len(hash) != hex.EncodedLen(len(d.Hash)) {
		return Digest{}, fmt.Errorf("malformed digest %q: want <64 hex digits>/<size>", s)
	}
	if _, err := hex.Decode(d.Hash[:], []byte(hash)); err != nil {
		return Digest{}, fmt.Errorf("malformed digest %q: %w", s, err)
	}
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || n < 0 {
		return Digest{}, fmt.Errorf("malformed digest %q: bad size", s)
	}
	d.Size = n
	return d, nil
}

// String returns the 64 lower-case hexadecimal digits of the key.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// IsZero reports whether k is unset.
func (k Key) IsZero() bool { return k == Key{} }

// MarshalText writes the form of String.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the form of String.
func (k *Key) UnmarshalText(text []byte) error {
	parsed, err := ParseKey(string(text))
	if err != nil {
		return err
	}
	*k = parsed
	return nil
}

// ParseKey reads 64 hexadecimal digits.
func ParseKey(s string) (Key, error) {
	var k Key
	if len(s) != hex.EncodedLen(len(k)) {
		return Key{}, fmt.Errorf("malformed key %q: want 64 hex digits", s)
	}
	if _, err := hex.Decode(k[:], []byte(s)); err != nil {
		return Key{}, fmt.Errorf("malformed key %q: %w", s, err)
	}
	return k, nil
}
