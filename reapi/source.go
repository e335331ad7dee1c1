package reapi

import (
	"bytes"
	"context"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/fevalgraph/fevalgraph/cache"
)

// maxQuestion limits the blobs in a query for missing ones.
const maxQuestion = 20_000

// NewSender returns a sender to the server of a client.
func NewSender(c *Client) *cache.Sender { return cache.NewSender(c, maxQuestion) }

// Messages holds blobs in memory, such as actions and commands. It is a cache.Source.
type Messages map[cache.Digest][]byte

// Add adds the canonical form of a message and returns its digest. The caller must sort
// lists whose order the protocol specifies, such as names of variables. It returns an error
// for strings that are not UTF-8.
func (m Messages) Add(message proto.Message) (cache.Digest, error) {
	content, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	if err != nil {
		return cache.Digest{}, err
	}
	d := cache.SumBytes(content)
	m[d] = content
	return d, nil
}

// Open implements cache.Source.
func (m Messages) Open(_ context.Context, d cache.Digest) (io.ReadCloser, error) {
	content, ok := m[d]
	if !ok {
		return nil, &cache.MissingError{Digest: d}
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}
