// Package reapi speaks the Remote Execution API with a cache: its ContentAddressableStorage,
// ActionCache, ByteStream and Capabilities services, over gRPC. It makes each call once, and
// verifies no bytes.
package reapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote"
)

// Options name a server.
type Options struct {
	Address  string      // host:port
	Instance string      // name of the cache in the server; may be ""
	TLS      *tls.Config // nil talks in the clear
	Header   string      // value of the authorization header; may be ""
}

// client is a remote.Transport.
type client struct {
	o       Options
	conn    *grpc.ClientConn
	actions execution.ActionCacheClient
	blobs   execution.ContentAddressableStorageClient
	stream  bytestream.ByteStreamClient

	mu     sync.Mutex
	agreed *abilities // nil until the server has said what it can do
}

// abilities are what a server says it can do.
type abilities struct {
	batch int64 // bytes of blobs in a message
	zstd  bool  // blobs of batches and streams may be compressed
}

// Open returns a transport. It connects when it is first used.
func Open(o Options) (remote.Transport, error) {
	secure := insecure.NewCredentials()
	if o.TLS != nil {
		secure = credentials.NewTLS(o.TLS)
	}
	conn, err := grpc.NewClient("passthrough:///"+o.Address, grpc.WithTransportCredentials(secure), grpc.WithUserAgent("fevalgraph"),
		grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithInitialWindowSize(1<<20), grpc.WithInitialConnWindowSize(8<<20))
	if err != nil {
		return nil, err
	}
	return &client{o: o, conn: conn, actions: execution.NewActionCacheClient(conn),
		blobs: execution.NewContentAddressableStorageClient(conn), stream: bytestream.NewByteStreamClient(conn)}, nil
}

func (c *client) Close() error { return c.conn.Close() }

// with adds the caller's rights to a call.
func (c *client) with(ctx context.Context) context.Context {
	if c.o.Header != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", c.o.Header)
	}
	return ctx
}

// maxBatch is what a message holds of blobs where a server takes more or does not say: with
// all that surrounds them, less than the 4 MiB that gRPC servers take.
const maxBatch = 2 << 20

// abilities asks the server what it can do, once.
func (c *client) abilities(ctx context.Context) (*abilities, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agreed != nil {
		return c.agreed, nil
	}
	said, err := execution.NewCapabilitiesClient(c.conn).GetCapabilities(c.with(ctx), &execution.GetCapabilitiesRequest{InstanceName: c.o.Instance})
	if err != nil {
		return nil, fault(err)
	}
	known := said.GetCacheCapabilities()
	sha256 := len(known.GetDigestFunctions()) == 0
	for _, f := range known.GetDigestFunctions() {
		sha256 = sha256 || f == execution.DigestFunction_SHA256
	}
	if !sha256 {
		return nil, &remote.RefusedError{Err: fmt.Errorf("it does not know SHA-256"), Rights: true}
	}
	a := &abilities{batch: maxBatch}
	if most := known.GetMaxBatchTotalSizeBytes(); most > 0 {
		a.batch = min(a.batch, most)
	}
	for _, compressor := range known.GetSupportedCompressors() {
		a.zstd = a.zstd || compressor == execution.Compressor_ZSTD
	}
	c.agreed = a
	return a, nil
}

// fault says of an error whether another try may help.
func fault(err error) error {
	said := status.Convert(err)
	short := fmt.Errorf("%s: %.200q", said.Code(), said.Message())
	switch said.Code() {
	case codes.OK:
		return nil
	case codes.Unauthenticated, codes.PermissionDenied:
		return &remote.RefusedError{Err: short, Rights: true}
	case codes.InvalidArgument, codes.Unimplemented, codes.FailedPrecondition, codes.OutOfRange:
		return &remote.RefusedError{Err: short}
	case codes.Canceled, codes.DeadlineExceeded:
		return err
	}
	return short
}

// Entry implements remote.Transport.
func (c *client) Entry(ctx context.Context, id cache.Key) (*execution.ActionResult, error) {
	e, err := c.actions.GetActionResult(c.with(ctx), &execution.GetActionResultRequest{InstanceName: c.o.Instance, ActionDigest: action(id)})
	if status.Code(err) == codes.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fault(err)
	}
	return e, nil
}

// PutEntry implements remote.Transport.
func (c *client) PutEntry(ctx context.Context, id cache.Key, e *execution.ActionResult) error {
	_, err := c.actions.UpdateActionResult(c.with(ctx), &execution.UpdateActionResultRequest{InstanceName: c.o.Instance, ActionDigest: action(id), ActionResult: e})
	return fault(err)
}

// action is the digest that names an entry. There is no action that has it, and no server
// looks for one.
func action(id cache.Key) *execution.Digest {
	return &execution.Digest{Hash: id.String(), SizeBytes: 1}
}

func digest(d cache.Digest) *execution.Digest {
	return &execution.Digest{Hash: d.Hex(), SizeBytes: d.Size}
}

func digests(all []cache.Digest) []*execution.Digest {
	out := make([]*execution.Digest, len(all))
	for i, d := range all {
		out[i] = digest(d)
	}
	return out
}

func parse(d *execution.Digest) (cache.Digest, error) {
	return cache.ParseDigest(fmt.Sprintf("%s/%d", d.GetHash(), d.GetSizeBytes()))
}

// Missing implements remote.Transport.
func (c *client) Missing(ctx context.Context, blobs []cache.Digest) ([]cache.Digest, error) {
	answer, err := c.blobs.FindMissingBlobs(c.with(ctx), &execution.FindMissingBlobsRequest{InstanceName: c.o.Instance, BlobDigests: digests(blobs)})
	if err != nil {
		return nil, fault(err)
	}
	var missing []cache.Digest
	for _, d := range answer.MissingBlobDigests {
		parsed, err := parse(d)
		if err != nil {
			return nil, err
		}
		missing = append(missing, parsed)
	}
	return missing, nil
}
