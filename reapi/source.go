package reapi

import (
	"bytes"
	"context"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Source has the blobs that are sent. A cache.Store is one.
type Source interface {
	Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error)
}

// Messages are blobs in memory, such as actions and commands: a Source.
type Messages map[cache.Digest][]byte

// Add adds the canonical form of a message and returns its digest. Lists whose order the
// protocol sets, such as names of variables, are sorted by the caller. The error is that of
// text which is not UTF-8.
func (m Messages) Add(message proto.Message) (cache.Digest, error) {
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return cache.Digest{}, err
	}
	d := cache.SumBytes(content)
	m[d] = content
	return d, nil
}

// Open implements Source.
func (m Messages) Open(_ context.Context, d cache.Digest) (io.ReadCloser, error) {
	content, ok := m[d]
	if !ok {
		return nil, &cache.MissingError{Digest: d}
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}
