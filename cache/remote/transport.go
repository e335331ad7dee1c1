package remote

import (
	"context"
	"io"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Transport speaks one protocol with one server. It is safe for concurrent use, tries each
// thing once, and believes nothing about bytes: its caller verifies them. Errors that
// trying again does not help are *reapi.RefusedError; *reapi.Client is one.
type Transport interface {
	// Entry returns an entry of the action cache, or nil.
	Entry(ctx context.Context, id cache.Key) (*execution.ActionResult, error)
	PutEntry(ctx context.Context, id cache.Key, e *execution.ActionResult) error
	// Server's Missing is called with at most Options.Together blobs; Put resumes a stream that
	// breaks off.
	cache.Server
	// Read calls into with each of the blobs that the server has, also from several
	// goroutines at once. It resumes a stream that breaks off.
	Read(ctx context.Context, blobs []cache.Digest, into func(cache.Digest, io.Reader) error) error
	io.Closer
}
