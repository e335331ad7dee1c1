package reapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fevalgraph/fevalgraph/cache"
)

// calls is the number of concurrent messages and streams of a Read or Write.
const calls = 8

// Messages have overhead besides the bytes of blobs.
const (
	digestBytes   = 100     // for each blob
	minCompressed = 1 << 10 // smaller blobs are sent uncompressed
)

// batches divides blobs into groups that fit into messages. A larger blob is a group by
// itself.
func batches(blobs []cache.Digest, limit int64) iter.Seq[[]cache.Digest] {
	return func(yield func([]cache.Digest) bool) {
		first, size := 0, int64(0)
		for i, d := range blobs {
			if size+d.Size+digestBytes > limit && i > first {
				if !yield(blobs[first:i]) {
					return
				}
				first, size = i, 0
			}
			size += d.Size + digestBytes
		}
		if first < len(blobs) {
			yield(blobs[first:])
		}
	}
}

func large(batch []cache.Digest, limit int64) bool {
	return len(batch) == 1 && batch[0].Size+digestBytes > limit
}

// Read calls into with each blob that the server has, possibly concurrently. It resumes
// broken streams, and does not verify content.
func (c *Client) Read(ctx context.Context, blobs []cache.Digest, into func(cache.Digest, io.Reader) error) error {
	a, err := c.Capabilities(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(calls)
	for batch := range batches(blobs, a.Batch) {
		group.Go(func() error {
			if large(batch, a.Batch) {
				return c.readStream(ctx, batch[0], a, into)
			}
			return c.readBatch(ctx, batch, a, into)
		})
	}
	return group.Wait()
}

func (c *Client) readBatch(ctx context.Context, blobs []cache.Digest, a *Capabilities, into func(cache.Digest, io.Reader) error) error {
	ask := &execution.BatchReadBlobsRequest{InstanceName: c.o.Instance, Digests: digests(blobs)}
	if a.Zstd {
		ask.AcceptableCompressors = []execution.Compressor_Value{execution.Compressor_IDENTITY, execution.Compressor_ZSTD}
	}
	answer, err := c.blobs.BatchReadBlobs(c.with(ctx), ask)
	if err != nil {
		return fault(err)
	}
	asked := make(map[cache.Digest]bool, len(blobs))
	for _, d := range blobs {
		asked[d] = true
	}
	for _, r := range answer.Responses {
		d, err := Parse(r.Digest)
		if err != nil || !asked[d] || codes.Code(r.GetStatus().GetCode()) != codes.OK {
			continue // it was not received
		}
		delete(asked, d)
		content := io.Reader(bytes.NewReader(r.Data))
		if r.Compressor == execution.Compressor_ZSTD {
			plain, err := decompressor(content)
			if err != nil {
				return err
			}
			defer plain.Close()
			content = plain
		}
		if err := into(d, content); err != nil {
			return err
		}
	}
	return nil
}

// decompressor reads compressed bytes. Its reader must limit how many it reads.
func decompressor(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(32<<20))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// Put implements cache.Server. It resumes broken streams.
func (c *Client) Put(ctx context.Context, blobs []cache.Digest, from cache.Source) (map[cache.Digest]error, error) {
	a, err := c.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	refused := map[cache.Digest]error{}
	refuse := func(why error, blobs ...cache.Digest) {
		mu.Lock()
		defer mu.Unlock()
		for _, d := range blobs {
			refused[d] = why
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(calls)
	for batch := range batches(blobs, a.Batch) {
		group.Go(func() (err error) {
			if large(batch, a.Batch) {
				err = c.writeStream(ctx, batch[0], from)
			} else {
				err = c.writeBatch(ctx, batch, a, from, refuse)
			}
			var no *RefusedError
			var own *cache.SourceError
			if errors.As(err, &no) && !no.Rights || errors.As(err, &own) {
				refuse(err, batch...)
				return nil
			}
			return err
		})
	}
	return refused, group.Wait()
}

func (c *Client) writeBatch(ctx context.Context, blobs []cache.Digest, a *Capabilities, from cache.Source, refuse func(error, ...cache.Digest)) error {
	ask := &execution.BatchUpdateBlobsRequest{InstanceName: c.o.Instance}
	for _, d := range blobs {
		content, err := readAll(ctx, from, d)
		if err != nil {
			refuse(&cache.SourceError{Digest: d, Err: err}, d)
			continue
		}
		one := &execution.BatchUpdateBlobsRequest_Request{Digest: Digest(d), Data: content}
		if a.Zstd && len(content) >= minCompressed {
			if packed := compressor.EncodeAll(content, nil); len(packed) < len(content) {
				one.Data, one.Compressor = packed, execution.Compressor_ZSTD
			}
		}
		ask.Requests = append(ask.Requests, one)
	}
	if len(ask.Requests) == 0 {
		return nil
	}
	answer, err := c.blobs.BatchUpdateBlobs(c.with(ctx), ask)
	if err != nil {
		return fault(err)
	}
	for _, r := range answer.Responses {
		if said := status.FromProto(r.GetStatus()); said.Code() != codes.OK {
			d, err := Parse(r.Digest)
			if err != nil {
				return err
			}
			refuse(fault(said.Err()), d)
		}
	}
	return nil
}

// compressor is safe for concurrent use.
var compressor, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))

func readAll(ctx context.Context, from cache.Source, d cache.Digest) ([]byte, error) {
	r, err := from.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content := make([]byte, d.Size)
	if _, err := io.ReadFull(r, content); err != nil {
		return nil, err
	}
	return content, nil
}
