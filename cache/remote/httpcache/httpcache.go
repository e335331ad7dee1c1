// Package httpcache is a client of caches over plain HTTP, such as bazel-remote: /cas/SHA256
// is a blob, /ac/SHA256 an entry, an ActionResult. It does not retry, and does not verify
// content.
package httpcache

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/remote"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// connections is the maximum number of concurrent requests.
const connections = 64

const maxEntry = 4 << 20 // bytes

// client is a remote.Transport.
type client struct {
	base   *url.URL
	header string
	http   *http.Client
	slots  chan struct{}
}

// Open returns a transport for a server; header is the value of the authorization header,
// which may be "". It connects on first use.
func Open(base *url.URL, secure *tls.Config, header string) remote.Transport {
	return &client{base: base, header: header, slots: make(chan struct{}, connections), http: &http.Client{
		Transport: &http.Transport{TLSClientConfig: secure, MaxIdleConnsPerHost: connections, ForceAttemptHTTP2: secure != nil,
			DisableCompression: true, TLSHandshakeTimeout: 5 * time.Second},
		// Do not follow redirects, which would send the credentials elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (c *client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// call makes a request. If the server lacks the object, the answer's body is nil.
func (c *client) call(ctx context.Context, method, place, name string, size int64, body io.Reader, offset int64) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base.JoinPath(place, name).String(), body)
	if err != nil {
		return nil, &reapi.RefusedError{Err: err}
	}
	if body != nil {
		request.ContentLength = size
	}
	if c.header != "" {
		request.Header.Set("Authorization", c.header)
	}
	if offset > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	code := answer.StatusCode
	if code >= 200 && code < 300 {
		return answer, nil
	}
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
	answer.Body.Close()
	err = fmt.Errorf("HTTP status %d: %.200q", code, bytes.TrimSpace(said))
	switch {
	case code == http.StatusNotFound:
		answer.Body = nil
		return answer, nil
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return nil, &reapi.RefusedError{Err: err, Rights: true}
	case code < 500 && code != http.StatusTooManyRequests && code != http.StatusRequestTimeout:
		return nil, &reapi.RefusedError{Err: err}
	}
	return nil, err
}

// Entry implements remote.Transport.
func (c *client) Entry(ctx context.Context, id cache.Key) (*execution.ActionResult, error) {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	answer, err := c.call(ctx, http.MethodGet, "ac", id.String(), 0, nil, 0)
	if err != nil || answer.Body == nil {
		return nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(io.LimitReader(answer.Body, maxEntry+1))
	if err != nil {
		return nil, err
	}
	e := new(execution.ActionResult)
	if len(content) > maxEntry || proto.Unmarshal(content, e) != nil {
		return nil, &reapi.RefusedError{Err: fmt.Errorf("entry %s is malformed", id)}
	}
	return e, nil
}

// PutEntry implements remote.Transport.
func (c *client) PutEntry(ctx context.Context, id cache.Key, e *execution.ActionResult) error {
	content, err := proto.Marshal(e)
	if err != nil {
		return err
	}
	return c.put(ctx, "ac", id.String(), int64(len(content)), bytes.NewReader(content))
}

func (c *client) put(ctx context.Context, place, name string, size int64, body io.Reader) error {
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	answer, err := c.call(ctx, http.MethodPut, place, name, size, body, 0)
	switch {
	case err != nil:
		return err
	case answer.Body == nil:
		return &reapi.RefusedError{Err: fmt.Errorf("/%s not found on the server", place)}
	}
	return answer.Body.Close()
}

// Missing implements cache.Server, with a request for each blob.
func (c *client) Missing(ctx context.Context, blobs []cache.Digest) (missing []cache.Digest, err error) {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(connections)
	for _, d := range blobs {
		group.Go(func() error {
			c.slots <- struct{}{}
			defer func() { <-c.slots }()
			answer, err := c.call(ctx, http.MethodHead, "cas", d.Hex(), 0, nil, 0)
			if err != nil {
				return err
			}
			if answer.Body != nil {
				return answer.Body.Close()
			}
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, d)
			return nil
		})
	}
	return missing, group.Wait()
}

// Read implements remote.Transport.
func (c *client) Read(ctx context.Context, blobs []cache.Digest, into func(cache.Digest, io.Reader) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(connections)
	for _, d := range blobs {
		group.Go(func() error {
			c.slots <- struct{}{}
			defer func() { <-c.slots }()
			r := &blobReader{ctx: ctx, c: c, d: d}
			defer r.close()
			if r.open() != nil || r.body == nil {
				return r.err
			}
			return into(d, r)
		})
	}
	return group.Wait()
}

// blobReader reads the content of a blob. After a broken answer, it requests the rest.
type blobReader struct {
	ctx    context.Context
	c      *client
	d      cache.Digest
	body   io.ReadCloser // nil if the server lacks it
	offset int64
	fails  int
	err    error
}

const resumes = 3 // without progress

func (r *blobReader) open() error {
	var answer *http.Response
	if answer, r.err = r.c.call(r.ctx, http.MethodGet, "cas", r.d.Hex(), 0, nil, r.offset); r.err != nil {
		return r.err
	}
	if r.body = answer.Body; r.body != nil && r.offset > 0 && answer.StatusCode != http.StatusPartialContent {
		_, r.err = io.CopyN(io.Discard, r.body, r.offset)
	}
	return r.err
}

func (r *blobReader) Read(p []byte) (int, error) {
	for {
		n, err := r.body.Read(p)
		r.offset += int64(n)
		if n > 0 || err == nil {
			r.fails = 0
			return n, nil
		}
		if err == io.EOF && r.offset >= r.d.Size || r.fails >= resumes || r.ctx.Err() != nil {
			return 0, err
		}
		r.fails++
		r.close()
		if r.open() != nil {
			return 0, r.err
		}
		if r.body == nil {
			return 0, io.ErrUnexpectedEOF
		}
	}
}

func (r *blobReader) close() {
	if r.body != nil {
		r.body.Close()
	}
}

// Put implements cache.Server.
func (c *client) Put(ctx context.Context, blobs []cache.Digest, from cache.Source) (map[cache.Digest]error, error) {
	var mu sync.Mutex
	refused := map[cache.Digest]error{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(connections / 4) // so that reads do not wait for writes
	for _, d := range blobs {
		group.Go(func() error {
			err := c.writeBlob(ctx, d, from)
			var no *reapi.RefusedError
			var own *cache.SourceError
			if errors.As(err, &no) && !no.Rights || errors.As(err, &own) && ctx.Err() == nil {
				mu.Lock()
				defer mu.Unlock()
				refused[d], err = err, nil
			}
			return err
		})
	}
	return refused, group.Wait()
}

// writeBlob sends a blob. The error is a *cache.SourceError if it could not be read.
func (c *client) writeBlob(ctx context.Context, d cache.Digest, from cache.Source) error {
	r, err := from.Open(ctx, d)
	if err != nil {
		return &cache.SourceError{Digest: d, Err: err}
	}
	defer r.Close()
	body := &blobBody{r: r}
	err = c.put(ctx, "cas", d.Hex(), d.Size, body)
	if failed := body.failed.Load(); err != nil && failed != nil {
		return &cache.SourceError{Digest: d, Err: *failed}
	}
	return err
}

// blobBody is the body of a request. It stores the error of its reader. The transport may
// read it for a moment after the call has ended.
type blobBody struct {
	r      io.Reader
	failed atomic.Pointer[error]
}

func (b *blobBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		b.failed.Store(&err)
	}
	return n, err
}
