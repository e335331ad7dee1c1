package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// withBlobs sends blobs and then calls do. If the server has lost one of them
// meanwhile, it repeats both once.
func (c *Client) withBlobs(ctx context.Context, needs []cache.Output, do func() error) error {
	epoch := c.sender.Epoch()
	supply := func() error {
		err := c.sender.Outputs(ctx, c.store, needs...)
		if err == nil {
			err = do()
		}
		return err
	}
	err := supply()
	if lost := (*cache.MissingError)(nil); errors.As(err, &lost) {
		c.sender.Forget(epoch)
		err = supply()
	}
	return err
}

// inputsOf returns the trees of inputs.
func inputsOf(inputs []backend.Input) []cache.Output {
	var all []cache.Output
	for _, in := range inputs {
		if !in.Tree.IsZero() {
			all = append(all, cache.Output{Digest: in.Tree, Tree: true})
		}
	}
	return all
}

// server implements cache.Server. Calls end with the client.
type server struct{ c *Client }

// Missing implements cache.Server.
func (s server) Missing(_ context.Context, blobs []cache.Digest) (lacks []cache.Digest, err error) {
	err = s.c.ask(s.c.life, pathMissing, blobs, &lacks)
	return lacks, err
}

// Put implements cache.Server, with one stream for all blobs.
func (s server) Put(_ context.Context, blobs []cache.Digest, from cache.Source) (failed map[cache.Digest]error, err error) {
	failed, again := map[cache.Digest]error{}, false
	err = s.c.persist(s.c.life, func() error {
		progress := false
		if again { // blobs that arrived before a cut are not sent again
			var still []cache.Digest
			if err := s.c.sendBody(s.c.life, http.MethodPost, pathMissing, encode(blobs), func(r *http.Response) error { return readJSON(r.Body, &still) }); err != nil {
				return err
			}
			still = slices.DeleteFunc(still, func(d cache.Digest) bool { return failed[d] != nil })
			progress, blobs = len(still) < len(blobs), still
		}
		again = true
		for len(blobs) > 0 {
			err := s.c.upload(s.c.life, blobs, from)
			var own *cache.SourceError
			if errors.As(err, &own) { // the others are sent without it
				failed[own.Digest] = err
				blobs = slices.DeleteFunc(slices.Clone(blobs), func(d cache.Digest) bool { return d == own.Digest })
				continue
			}
			if cut := (*cutError)(nil); errors.As(err, &cut) {
				cut.progress = progress
			}
			return err
		}
		return nil
	})
	return failed, err
}

// upload sends blobs as one stream. The error is a *cache.SourceError for a blob that could not be
// read.
func (c *Client) upload(ctx context.Context, blobs []cache.Digest, from cache.Source) error {
	r, w := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		err := c.writeBlobs(ctx, w, blobs, from)
		w.CloseWithError(err)
		failed <- err
	}()
	err := c.send(ctx, http.MethodPost, pathBlobs, r, func(*http.Response) error { return nil })
	r.CloseWithError(io.ErrClosedPipe) // for a server that answered early
	if ours := <-failed; ours != nil && !errors.Is(ours, io.ErrClosedPipe) {
		return ours
	}
	return err
}

func (c *Client) writeBlobs(ctx context.Context, w io.Writer, blobs []cache.Digest, from cache.Source) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	for _, d := range blobs {
		blob, err := from.Open(ctx, d)
		if err != nil {
			return &cache.SourceError{Digest: d, Err: err}
		}
		fmt.Fprintf(buffered, "%s\n", d)
		n, err := io.Copy(buffered, blob)
		if closed := blob.Close(); err == nil {
			err = closed
		}
		if err == nil && n != d.Size {
			err = &cache.CorruptError{Digest: d}
		}
		switch {
		case errors.Is(err, io.ErrClosedPipe): // the request has ended
			return err
		case err != nil:
			return &cache.SourceError{Digest: d, Err: err}
		}
		c.mu.Lock()
		c.sent += n
		c.mu.Unlock()
	}
	return buffered.Flush()
}

// fetch copies a blob from the server to the client's store.
func (c *Client) fetch(ctx context.Context, d cache.Digest) error {
	if has, err := c.store.Has(ctx, d); err != nil || has {
		return err
	}
	return c.repeat(ctx, http.MethodGet, pathBlob+d.String(), nil, func(r *http.Response) error {
		got, err := c.store.Put(ctx, io.LimitReader(connection{r.Body}, d.Size+1))
		if err == nil && got != d {
			err = fmt.Errorf("blob %s arrived as %s", d, got)
		}
		return err
	})
}

// connection marks read errors as errors of the connection.
type connection struct{ r io.Reader }

func (c connection) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		err = &cutError{err: err}
	}
	return n, err
}
