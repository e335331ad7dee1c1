package remote

import (
	"context"
	"io"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// Transport speaks one protocol with one server. It is safe for concurrent use, tries each
// thing once, and believes nothing about bytes: its caller verifies them. Errors that
// trying again does not help are *reapi.RefusedError; *reapi.Client is one.
type Transport interface {
	// Entry returns an entry of the action cache; nil when there is none.
	Entry(ctx context.Context, id cache.Key) (*execution.ActionResult, error)
	PutEntry(ctx context.Context, id cache.Key, e *execution.ActionResult) error
	// Missing returns those of the blobs that the server does not have: at most
	// Options.Together blobs.
	Missing(ctx context.Context, blobs []cache.Digest) ([]cache.Digest, error)
	// Read calls into with each of the blobs that the server has, also from several
	// goroutines at once. It resumes a stream that breaks off.
	Read(ctx context.Context, blobs []cache.Digest, into func(cache.Digest, io.Reader) error) error
	// Write sends blobs. It resumes a stream that breaks off. A blob that the server does
	// not take, and others do not depend on, is among refused.
	Write(ctx context.Context, blobs []cache.Digest, from reapi.Source) (refused map[cache.Digest]error, err error)
	io.Closer
}
