package remote

import (
	"context"
	"encoding/base64"
	"io"
	"strings"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Transport speaks one protocol with one server. It is safe for concurrent use, tries each
// thing once, and believes nothing about bytes: its caller verifies them. Errors that
// trying again does not help are *RefusedError.
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
	Write(ctx context.Context, blobs []cache.Digest, from Source) (refused map[cache.Digest]error, err error)
	io.Closer
}

// Source has the blobs that are sent. A cache.Store is one.
type Source interface {
	Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error)
}

// RefusedError says that a server does not do what it is asked: now, and if it is asked
// again.
type RefusedError struct {
	Err    error
	Rights bool // the caller may not
}

func (e *RefusedError) Error() string { return e.Err.Error() }
func (e *RefusedError) Unwrap() error { return e.Err }

// Authorization is the header for a token: user:password, or one that the server made.
func Authorization(token string) string {
	switch {
	case token == "":
		return ""
	case strings.Contains(token, ":"):
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(token))
	}
	return "Bearer " + token
}
