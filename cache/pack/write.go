package pack

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/fevalgraph/fevalgraph/cache"
)

const (
	headName    = "fevalgraph-pack"
	head        = `{"schema":1}` + "\n"
	blobDir     = "cas/"
	recordDir   = "ac/"
	extraDir    = "extra/"
	fileMode    = 0o644
	digestChars = 64 // of a name
)

// Contents is the content of an archive, besides the blobs that its records reference.
type Contents struct {
	Records map[cache.Key]*cache.Record
	// Blobs maps additional blobs to functions that open them; nil means the store.
	Blobs map[cache.Digest]Open
	Extra map[string][]byte // by slash-separated path
}

// Open opens a blob that is not in the store.
type Open func(ctx context.Context) (io.ReadCloser, error)

// Counts describes the content of an archive.
type Counts struct {
	Blobs, Records int
	Bytes          int64 // of the blobs
	// Foreign counts records that the reader does not trust, and Kept older versions of records that it has.
	Foreign, Kept int
}

// Write writes an archive. Records are signed by signer, which can be nil. A blob that the
// store lacks is a *cache.MissingError.
func Write(ctx context.Context, w io.Writer, store cache.Store, signer cache.RecordKey, c Contents) (Counts, error) {
	compressor, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return Counts{}, err
	}
	a := &writer{ctx: ctx, tar: tar.NewWriter(compressor), store: store}
	err = a.write(signer, c)
	if err == nil {
		err = a.tar.Close()
	}
	return a.counts, errors.Join(err, compressor.Close())
}

type writer struct {
	ctx    context.Context
	tar    *tar.Writer
	store  cache.Store
	counts Counts
}

func (a *writer) write(signer cache.RecordKey, c Contents) error {
	if err := a.file(headName, []byte(head)); err != nil {
		return err
	}
	blobs, seen := map[cache.Digest]Open{}, map[cache.Output]bool{}
	maps.Copy(blobs, c.Blobs)
	for _, r := range c.Records {
		for _, o := range r.Outputs {
			err := cache.EachBlob(a.ctx, a.store, o, seen, func(o cache.Output) error {
				blobs[o.Digest] = nil
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	for _, g := range slices.SortedFunc(maps.Keys(blobs), func(a, b cache.Digest) int { return bytes.Compare(a.Hash[:], b.Hash[:]) }) {
		if err := a.blob(g, blobs[g]); err != nil {
			return err
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(c.Records), func(a, b cache.Key) int { return bytes.Compare(a[:], b[:]) }) {
		stored, err := cache.EncodeRecord(signer, k, c.Records[k])
		if err == nil {
			err = a.file(recordDir+k.String(), stored)
		}
		if err != nil {
			return err
		}
		a.counts.Records++
	}
	for _, name := range slices.Sorted(maps.Keys(c.Extra)) {
		if err := a.file(extraDir+name, c.Extra[name]); err != nil {
			return err
		}
	}
	return nil
}

func (a *writer) file(name string, content []byte) error {
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Mode: fileMode, Size: int64(len(content))}); err != nil {
		return err
	}
	_, err := a.tar.Write(content)
	return err
}

func (a *writer) blob(g cache.Digest, open Open) error {
	if err := context.Cause(a.ctx); err != nil {
		return err
	}
	if open == nil {
		open = func(ctx context.Context) (io.ReadCloser, error) { return a.store.Open(ctx, g) }
	}
	r, err := open(a.ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := a.tar.WriteHeader(&tar.Header{Name: fmt.Sprintf("%s%x", blobDir, g.Hash), Mode: fileMode, Size: g.Size}); err != nil {
		return err
	}
	a.counts.Blobs++
	a.counts.Bytes += g.Size
	_, err = io.Copy(a.tar, r)
	return err
}
