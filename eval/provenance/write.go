package provenance

import (
	"bytes"
	"context"
	"io"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/pack"
)

// Names of files in the archive.
const (
	entriesFile   = "entries"
	statementFile = "statement"
)

// Write writes a bundle. A blob that the store lacks is a *cache.MissingError.
func Write(ctx context.Context, w io.Writer, store cache.Store, signer dsse.Signer, a About, e *Entries) (pack.Counts, error) {
	text, err := e.encode()
	if err != nil {
		return pack.Counts{}, err
	}
	signed, err := newStatement(a, e, digestOf(text)).sign(ctx, signer)
	if err != nil {
		return pack.Counts{}, err
	}
	blobs := map[cache.Digest]pack.Open{}
	for _, p := range e.parts(a.Withheld) {
		if p.kind != isManifest {
			blobs[p.Digest] = nil
			continue
		}
		record, err := store.Record(ctx, cache.Key(p.Hash))
		if err != nil || record == nil {
			return pack.Counts{}, &GoneError{Name: p.addr}
		}
		p.Size = int64(len(record.Manifest))
		blobs[p.Digest] = func(ctx context.Context) (io.ReadCloser, error) {
			record, err := store.Record(ctx, cache.Key(p.Hash))
			if err == nil && record == nil {
				err = &GoneError{Name: p.addr}
			}
			if err != nil {
				return nil, err
			}
			return io.NopCloser(bytes.NewReader(record.Manifest)), nil
		}
	}
	return pack.Write(ctx, w, store, nil, pack.Contents{Blobs: blobs, Extra: map[string][]byte{
		entriesFile: text, statementFile: signed,
	}})
}
