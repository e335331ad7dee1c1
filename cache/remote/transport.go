package remote

import (
	"context"
	"io"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Transport implements a protocol for a server. It is safe for concurrent use and does not
// retry. Callers must verify received content. Errors for which a retry does not help are
// *reapi.RefusedError. *reapi.Client is a Transport.
type Transport interface {
	// Entry returns an entry of the action cache, or nil.
	Entry(ctx context.Context, id cache.Key) (*execution.ActionResult, error)
	PutEntry(ctx context.Context, id cache.Key, e *execution.ActionResult) error
	// Server's Missing is called with at most Options.Together blobs; Put resumes a broken
	// stream.
	cache.Server
	// Read calls into with each blob that the server has, possibly concurrently.
	// It resumes a broken stream.
	Read(ctx context.Context, blobs []cache.Digest, into func(cache.Digest, io.Reader) error) error
	io.Closer
}
