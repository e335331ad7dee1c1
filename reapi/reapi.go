// Package reapi is a client of the Remote Execution API: of a cache, or of an engine that also executes
// actions. It does not retry calls, but resumes broken streams; it neither verifies content nor decides
// about results.
//
// Errors have types for the caller's reaction: after an AwayError, wait; after a BusyError, send fewer
// actions; after a LostError, execute the action again; after a MissingError, send the listed blobs again.
package reapi

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Options configures a Client.
type Options struct {
	Address  string            // host:port
	Instance string            // name of the cache, or of the engine, in the server; can be ""
	TLS      *tls.Config       // nil means no TLS
	Headers  map[string]string // of each call, by name in lower case; empty ones are not sent
	// State is the host:port of the BuildQueueState service of a Buildbarn scheduler, with which Execute kills
	// cancelled actions; "" leaves them to the server.
	State string
}

// Client is a connection to a server. It is safe for concurrent use.
type Client struct {
	o       Options
	conn    *grpc.ClientConn
	state   *grpc.ClientConn // nil without Options.State
	actions execution.ActionCacheClient
	blobs   execution.ContentAddressableStorageClient
	engine  execution.ExecutionClient
	stream  bytestream.ByteStreamClient

	mu     sync.Mutex
	agreed *Capabilities // nil until the server has reported its capabilities
}

// Capabilities are a server's capabilities as it reports them.
type Capabilities struct {
	Batch    int64    // bytes of blobs that a message holds, at most
	MaxBlob  int64    // bytes of the largest blob; 0 if the server does not report it
	Zstd     bool     // blobs of batches and streams can be compressed
	Updates  bool     // of the action cache, by clients
	Executes bool     // actions, given as digests of SHA-256
	Digests  []string // functions of digests
	Version  string   // the highest of the API, such as 2.3
}

// silence is how long a connection with waiting calls can be silent before it is pinged: servers close
// connections that ping more often than every five minutes.
const silence = 5*time.Minute + 10*time.Second

// Open returns a client. It connects when it is first used.
func Open(o Options) (*Client, error) {
	secure := insecure.NewCredentials()
	if o.TLS != nil {
		secure = credentials.NewTLS(o.TLS)
	}
	dial := func(address string) (*grpc.ClientConn, error) {
		return grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(secure), grpc.WithUserAgent("fevalgraph"),
			grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: silence}),
			grpc.WithNoProxy(), grpc.WithDisableServiceConfig(), grpc.WithDisableRetry(), grpc.WithInitialWindowSize(1<<20), grpc.WithInitialConnWindowSize(8<<20))
	}
	conn, err := dial(o.Address)
	if err != nil {
		return nil, err
	}
	c := &Client{o: o, conn: conn, actions: execution.NewActionCacheClient(conn), blobs: execution.NewContentAddressableStorageClient(conn),
		engine: execution.NewExecutionClient(conn), stream: bytestream.NewByteStreamClient(conn)}
	if o.State != "" {
		if c.state, err = dial(o.State); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return c, nil
}

// Close ends all calls.
func (c *Client) Close() error {
	if c.state != nil {
		c.state.Close()
	}
	return c.conn.Close()
}

// Authorization returns the value of the header authorization for a token: user:password, or a token that
// the server made.
func Authorization(token string) string {
	switch {
	case token == "":
		return ""
	case strings.Contains(token, ":"):
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(token))
	}
	return "Bearer " + token
}

// with adds the caller's credentials to a call.
func (c *Client) with(ctx context.Context) context.Context {
	for name, value := range c.o.Headers {
		if value != "" {
			ctx = metadata.AppendToOutgoingContext(ctx, name, value)
		}
	}
	return ctx
}

// maxBatch limits the blobs in a message if a server accepts more or does not report its limit. With
// overhead, that is below gRPC's default limit of 4 MiB.
const maxBatch = 2 << 20

// Capabilities returns the server's capabilities. It queries them until the server has answered once.
func (c *Client) Capabilities(ctx context.Context) (*Capabilities, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.agreed != nil {
		return c.agreed, nil
	}
	said, err := execution.NewCapabilitiesClient(c.conn).GetCapabilities(c.with(ctx), &execution.GetCapabilitiesRequest{InstanceName: c.o.Instance})
	if err != nil {
		return nil, fault(err)
	}
	stores, executes := said.GetCacheCapabilities(), said.GetExecutionCapabilities()
	functions := stores.GetDigestFunctions()
	if len(functions) > 0 && !slices.Contains(functions, execution.DigestFunction_SHA256) {
		return nil, &RefusedError{Err: errors.New("it does not support SHA-256"), Rights: true}
	}
	a := &Capabilities{Batch: maxBatch, MaxBlob: stores.GetMaxCasBlobSizeBytes(), Updates: stores.GetActionCacheUpdateCapabilities().GetUpdateEnabled(),
		Zstd:     slices.Contains(stores.GetSupportedCompressors(), execution.Compressor_ZSTD),
		Executes: executes.GetExecEnabled() && slices.Contains(append(executes.GetDigestFunctions(), executes.GetDigestFunction()), execution.DigestFunction_SHA256)}
	if most := stores.GetMaxBatchTotalSizeBytes(); most > 0 {
		a.Batch = min(a.Batch, most)
	}
	for _, f := range functions {
		a.Digests = append(a.Digests, f.String())
	}
	if v := said.GetHighApiVersion(); v != nil {
		a.Version = fmt.Sprintf("%d.%d", v.Major, v.Minor)
	}
	c.agreed = a
	return a, nil
}

// ActionResult returns the result of an action from the server's action cache, or nil.
func (c *Client) ActionResult(ctx context.Context, action cache.Digest) (*execution.ActionResult, error) {
	e, err := c.actions.GetActionResult(c.with(ctx), &execution.GetActionResultRequest{InstanceName: c.o.Instance, ActionDigest: Digest(action)})
	if status.Code(err) == codes.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, fault(err)
	}
	return e, nil
}

// PutActionResult stores a result, whose blobs the server has.
func (c *Client) PutActionResult(ctx context.Context, action cache.Digest, e *execution.ActionResult) error {
	_, err := c.actions.UpdateActionResult(c.with(ctx), &execution.UpdateActionResultRequest{InstanceName: c.o.Instance, ActionDigest: Digest(action), ActionResult: e})
	return fault(err)
}

// Entry returns an entry of the action cache that is not an action's result, or nil.
func (c *Client) Entry(ctx context.Context, id cache.Key) (*execution.ActionResult, error) {
	return c.ActionResult(ctx, entry(id))
}

// PutEntry stores such an entry.
func (c *Client) PutEntry(ctx context.Context, id cache.Key, e *execution.ActionResult) error {
	return c.PutActionResult(ctx, entry(id), e)
}

// entry returns the digest that names an entry. No action has this digest, and servers do not look for
// one.
func entry(id cache.Key) cache.Digest { return cache.Digest{Hash: id, Size: 1} }

// Missing returns the blobs that the server lacks: at most 20,000 of them fit into a message.
func (c *Client) Missing(ctx context.Context, blobs []cache.Digest) ([]cache.Digest, error) {
	answer, err := c.blobs.FindMissingBlobs(c.with(ctx), &execution.FindMissingBlobsRequest{InstanceName: c.o.Instance, BlobDigests: digests(blobs)})
	if err != nil {
		return nil, fault(err)
	}
	var missing []cache.Digest
	for _, d := range answer.MissingBlobDigests {
		parsed, err := Parse(d)
		if err != nil {
			return nil, err
		}
		missing = append(missing, parsed)
	}
	return missing, nil
}

// Digest converts a digest to the form in messages.
func Digest(d cache.Digest) *execution.Digest {
	return &execution.Digest{Hash: d.Hex(), SizeBytes: d.Size}
}

func digests(all []cache.Digest) []*execution.Digest {
	out := make([]*execution.Digest, len(all))
	for i, d := range all {
		out[i] = Digest(d)
	}
	return out
}

// Parse converts a digest from the form in messages.
func Parse(d *execution.Digest) (cache.Digest, error) {
	return cache.ParseDigest(fmt.Sprintf("%s/%d", d.GetHash(), d.GetSizeBytes()))
}
