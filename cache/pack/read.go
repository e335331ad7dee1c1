package pack

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Reader reads archives into a store.
type Reader struct {
	Store  cache.Store
	Signer cache.RecordKey // whose records count
	Adopt  bool            // records count with any signature
	// InMemory is for a Store in memory: it omits blobs that are larger than any record, or beyond a total
	// size.
	InMemory bool
	// Extra receives the caller's additional files; nil ignores them.
	Extra func(name string, content []byte) error
}

// ErrNoArchive means that a file is not an archive, or is damaged.
var ErrNoArchive = errors.New("not a pack, or damaged")

// maxInMemory limits an entry other than a blob, in bytes. All of them together are limited to
// leastInMemory, or maxRatio times the size of the file if that is more: text of records and runs
// compresses to a thirtieth at best, and an archive that unpacks to more would exhaust the reader's
// memory.
const (
	maxInMemory   = 256 << 20
	leastInMemory = 64 << 20
	maxRatio      = 64
	largestHeld   = 1 << 20
)

// Is reports whether a file begins like an archive.
func Is(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	plain, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return false
	}
	defer plain.Close()
	first := make([]byte, len(headName))
	_, err = io.ReadFull(plain, first)
	return err == nil && string(first) == headName
}

// Read reads the archive in a file. Its content becomes visible only if all of it can be read; with
// several archives, the first ones can become visible before an error. A record replaces a record of an
// earlier run for the same key.
func (r *Reader) Read(ctx context.Context, path string) (Counts, error) {
	f, err := os.Open(path)
	if err != nil {
		return Counts{}, err
	}
	defer f.Close()
	if _, err := pass(ctx, f, discard{}); err != nil {
		return Counts{}, fmt.Errorf("reading %s: %w", path, err)
	}
	if _, err = f.Seek(0, io.SeekStart); err != nil {
		return Counts{}, err
	}
	counts, err := pass(ctx, f, &placer{ctx: ctx, r: r})
	if err != nil {
		return counts, fmt.Errorf("reading %s: %w", path, err)
	}
	return counts, nil
}

// Scan reads the archive in a file, and calls blob with each blob, without verifying the content, and
// extra with each additional file. Either can be nil. It skips records.
func Scan(ctx context.Context, path string, blob func(name [32]byte, content io.Reader) error, extra func(name string, content []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err = pass(ctx, f, scanner{onBlob: blob, onExtra: extra}); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

// sink receives the entries of an archive.
type sink interface {
	blob(name [32]byte, size int64, content io.Reader) error
	record(k cache.Key, stored []byte, counts *Counts) error
	extra(name string, content []byte) error
}

// pass passes all entries to a sink.
func pass(ctx context.Context, file *os.File, to sink) (counts Counts, err error) {
	info, err := file.Stat()
	if err != nil {
		return counts, err
	}
	room := int64(leastInMemory)
	if info.Size() > leastInMemory/maxRatio {
		room = info.Size() * maxRatio
	}
	plain, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
	if err != nil {
		return counts, err
	}
	defer plain.Close()
	archive := tar.NewReader(plain)
	for first := true; ; first = false {
		if err := context.Cause(ctx); err != nil {
			return counts, err
		}
		h, err := archive.Next()
		switch {
		case err == io.EOF && !first:
			_, err = io.Copy(io.Discard, plain) // its checksum comes last
			return counts, asDamaged(err)
		case err != nil:
			return counts, asDamaged(err)
		case h.Typeflag != tar.TypeReg, first != (h.Name == headName):
			return counts, fmt.Errorf("%w: entry %q", ErrNoArchive, h.Name)
		}
		if err := entry(h, archive, to, &room, &counts); err != nil {
			return counts, err
		}
	}
}

func entry(h *tar.Header, content io.Reader, to sink, room *int64, counts *Counts) error {
	dir, name, _ := strings.Cut(h.Name, "/")
	switch dir + "/" {
	case blobDir, recordDir:
		id, err := hex.DecodeString(name)
		if err != nil || len(name) != digestChars {
			return fmt.Errorf("%w: entry %q", ErrNoArchive, h.Name)
		}
		if dir+"/" == blobDir {
			counts.Blobs++
			counts.Bytes += h.Size
			return to.blob([32]byte(id), h.Size, content)
		}
		stored, err := readSmall(h, content, room)
		if err != nil {
			return err
		}
		return to.record(cache.Key(id), stored, counts)
	case extraDir:
		if !fs.ValidPath(name) {
			return fmt.Errorf("%w: entry %q", ErrNoArchive, h.Name)
		}
		all, err := readSmall(h, content, room)
		if err != nil {
			return err
		}
		return to.extra(name, all)
	case headName + "/":
		all, err := readSmall(h, content, room)
		if err == nil && !bytes.Equal(all, []byte(head)) {
			err = fmt.Errorf("its format %.40q is not supported by this version", all)
		}
		return err
	}
	return fmt.Errorf("%w: entry %q", ErrNoArchive, h.Name)
}

// readSmall reads an entry into memory, within the limits.
func readSmall(h *tar.Header, content io.Reader, room *int64) ([]byte, error) {
	if h.Size > maxInMemory {
		return nil, fmt.Errorf("%w: entry %q has %d bytes", ErrNoArchive, h.Name, h.Size)
	}
	if *room -= h.Size; *room < 0 {
		return nil, fmt.Errorf("%w: its records and lists are more than %d times as large as the file, and reading them could exhaust memory", ErrNoArchive, maxRatio)
	}
	all, err := io.ReadAll(content)
	return all, asDamaged(err)
}

// asDamaged marks errors of the archive or its compression.
func asDamaged(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrNoArchive, err)
}

// discard reads an archive to the end.
type discard struct{}

func (discard) blob(_ [32]byte, _ int64, content io.Reader) error {
	_, err := io.Copy(io.Discard, content)
	return asDamaged(err)
}
func (discard) record(cache.Key, []byte, *Counts) error { return nil }
func (discard) extra(string, []byte) error              { return nil }

// scanner passes entries to functions.
type scanner struct {
	discard
	onBlob  func(name [32]byte, content io.Reader) error
	onExtra func(name string, content []byte) error
}

func (s scanner) blob(name [32]byte, size int64, content io.Reader) error {
	if s.onBlob == nil {
		return s.discard.blob(name, size, content)
	}
	return s.onBlob(name, content)
}

func (s scanner) extra(name string, content []byte) error {
	if s.onExtra == nil {
		return nil
	}
	return s.onExtra(name, content)
}

// placer adds the content of an archive to the store.
type placer struct {
	ctx       context.Context
	r         *Reader
	heldBytes int64 // bytes of blobs, of a Store in memory
}

func (p *placer) blob(name [32]byte, size int64, content io.Reader) error {
	if p.r.InMemory {
		if size > largestHeld || p.heldBytes+size > leastInMemory {
			return discard{}.blob(name, size, content)
		}
		p.heldBytes += size
	}
	if ok, err := p.r.Store.Has(p.ctx, cache.Digest{Hash: name, Size: size}); ok || err != nil {
		return err
	}
	got, err := p.r.Store.Put(p.ctx, content)
	if err == nil && got.Hash != name {
		return fmt.Errorf("%w: blob %x does not match its digest", ErrNoArchive, name)
	}
	return err
}

func (p *placer) record(k cache.Key, stored []byte, counts *Counts) error {
	record, err := cache.DecodeRecord(p.r.Signer, k, stored)
	if foreign := (*cache.ForeignError)(nil); errors.As(err, &foreign) {
		if !p.r.Adopt {
			counts.Foreign++
			return nil
		}
		record, err = cache.DecodeRecord(nil, k, stored)
	}
	if err != nil {
		return asDamaged(err)
	}
	known, err := p.r.Store.Record(p.ctx, k)
	if err == nil && known != nil && known.Run >= record.Run {
		counts.Kept++
		return nil
	}
	if err := p.r.Store.PutRecord(p.ctx, k, record); err != nil {
		return err
	}
	counts.Records++
	return nil
}

func (p *placer) extra(name string, content []byte) error {
	if p.r.Extra == nil {
		return nil
	}
	return p.r.Extra(name, content)
}
