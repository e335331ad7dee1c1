package reapi

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fevalgraph/fevalgraph/cache"
)

// Parameters of streams.
const (
	chunk   = 256 << 10 // bytes in a message
	resumes = 3         // of a broken stream without progress
)

// resource returns the name of a blob to be read.
func (c *Client) resource(d cache.Digest, kind string) string {
	name := fmt.Sprintf("%s/%s", kind, d)
	if c.o.Instance != "" {
		name = c.o.Instance + "/" + name
	}
	return name
}

// readStream reads one blob. It resumes a broken stream where it ended.
func (c *Client) readStream(ctx context.Context, d cache.Digest, a *Capabilities, into func(cache.Digest, io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &blobReader{ctx: c.with(ctx), c: c, name: c.resource(d, "blobs")}
	if a.Zstd {
		r.name, r.packed = c.resource(d, "compressed-blobs/zstd"), true
	}
	defer r.close()
	err := into(d, r)
	if status.Code(r.err) == codes.NotFound {
		return nil // it was not received
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return fault(r.err)
	}
	return err
}

// blobReader reads the content of a blob from streams.
type blobReader struct {
	ctx    context.Context
	c      *Client
	name   string
	packed bool // compressed

	offset int64 // number of bytes of content read
	plain  io.ReadCloser
	fails  int
	err    error
}

func (r *blobReader) Read(p []byte) (int, error) {
	for {
		if r.plain == nil {
			if r.err = r.open(); r.err != nil {
				return 0, r.err
			}
		}
		n, err := r.plain.Read(p)
		r.offset += int64(n)
		if n > 0 {
			r.fails = 0
			return n, nil
		}
		if err == nil {
			continue
		}
		code := status.Code(err)
		if err == io.EOF || code != codes.Unavailable && code != codes.Internal && code != codes.Aborted && !errors.Is(err, io.ErrUnexpectedEOF) || r.fails >= resumes {
			r.err = err
			return 0, err
		}
		r.fails++
		r.close()
	}
}

// open requests the rest of the blob; offsets are those of plain content.
func (r *blobReader) open() error {
	stream, err := r.c.stream.Read(r.ctx, &bytestream.ReadRequest{ResourceName: r.name, ReadOffset: r.offset})
	if err != nil {
		return err
	}
	messages := &messageReader{stream: stream}
	r.plain = io.NopCloser(messages)
	if r.packed {
		r.plain, err = decompressor(messages)
	}
	return err
}

func (r *blobReader) close() {
	if r.plain != nil {
		r.plain.Close()
		r.plain = nil
	}
}

// messageReader reads the content of a stream's messages.
type messageReader struct {
	stream bytestream.ByteStream_ReadClient
	left   []byte
}

func (m *messageReader) Read(p []byte) (int, error) {
	for len(m.left) == 0 {
		message, err := m.stream.Recv()
		if err != nil {
			return 0, err
		}
		m.left = message.Data
	}
	n := copy(p, m.left)
	m.left = m.left[n:]
	return n, nil
}

// writeStream sends one blob. After a broken stream, it queries how much of the blob has
// arrived.
func (c *Client) writeStream(ctx context.Context, d cache.Digest, from cache.Source) error {
	name := c.resource(d, "uploads/"+uuid()+"/blobs")
	committed := int64(0)
	for fails := 0; ; {
		err := c.writeFrom(ctx, name, d, from, committed)
		code := status.Code(err)
		if err == nil || code != codes.Unavailable && code != codes.Aborted || fails >= resumes {
			if _, known := status.FromError(err); known {
				return fault(err)
			}
			return err
		}
		at, askErr := c.stream.QueryWriteStatus(c.with(ctx), &bytestream.QueryWriteStatusRequest{ResourceName: name})
		if askErr != nil || at.CommittedSize <= committed {
			fails++
		}
		if committed = 0; askErr == nil && at.CommittedSize > 0 && at.CommittedSize <= d.Size {
			committed = at.CommittedSize
		}
	}
}

func (c *Client) writeFrom(ctx context.Context, name string, d cache.Digest, from cache.Source, offset int64) error {
	r, err := from.Open(ctx, d)
	if err != nil {
		return &cache.SourceError{Digest: d, Err: err}
	}
	defer r.Close()
	if _, err := io.CopyN(io.Discard, r, offset); err != nil {
		return &cache.SourceError{Digest: d, Err: err}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.stream.Write(c.with(ctx))
	if err != nil {
		return err
	}
	buffer := make([]byte, chunk)
	for end := false; !end; {
		n, err := io.ReadFull(r, buffer[:min(chunk, d.Size-offset)])
		if err != nil {
			return &cache.SourceError{Digest: d, Err: err}
		}
		end = offset+int64(n) == d.Size
		err = stream.Send(&bytestream.WriteRequest{ResourceName: name, WriteOffset: offset, Data: buffer[:n], FinishWrite: end})
		offset += int64(n)
		if errors.Is(err, io.EOF) { // the server has ended the stream: it has the blob, or reports an error
			break
		}
		if err != nil {
			return err
		}
	}
	_, err = stream.CloseAndRecv()
	return err
}

// uuid returns a random UUID, version 4.
func uuid() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
