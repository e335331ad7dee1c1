package worker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// supplied does something for which the server needs blobs, and once more when the
// server turns out to have lost one since it was sent.
func (c *Client) supplied(ctx context.Context, needs []cache.Output, do func() error) error {
	if err := c.supply(ctx, needs); err != nil {
		return err
	}
	err := do()
	if lost := (*cache.MissingError)(nil); !errors.As(err, &lost) {
		return err
	}
	c.mu.Lock()
	clear(c.there)
	c.mu.Unlock()
	if err := c.supply(ctx, needs); err != nil {
		return err
	}
	return do()
}

// inputsOf are the trees of inputs.
func inputsOf(inputs []backend.Input) []cache.Output {
	var all []cache.Output
	for _, in := range inputs {
		if !in.Tree.IsZero() {
			all = append(all, cache.Output{Digest: in.Tree, Tree: true})
		}
	}
	return all
}

// supply uploads what the server lacks of blobs and trees: one question for all of
// them, and one stream.
func (c *Client) supply(ctx context.Context, needs []cache.Output) error {
	seen := map[cache.Digest]bool{}
	var all []cache.Digest
	c.mu.Lock()
	for d := range c.there {
		seen[d] = true // with a tree, all that is in it
	}
	c.mu.Unlock()
	for _, o := range needs {
		err := cache.EachBlob(ctx, c.store, o, seen, func(d cache.Digest) error {
			all = append(all, d)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	var lacks []cache.Digest
	if err := c.ask(ctx, pathMissing, all, &lacks); err != nil {
		return err
	}
	if len(lacks) > 0 {
		if err := c.persist(ctx, func() error { return c.upload(ctx, lacks) }); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range all {
		c.there[d] = true
	}
	for _, d := range lacks {
		c.sent += d.Size
	}
	return nil
}

// upload sends blobs as one stream.
func (c *Client) upload(ctx context.Context, blobs []cache.Digest) error {
	r, w := io.Pipe()
	failed := make(chan error, 1)
	go func() {
		err := c.writeBlobs(ctx, w, blobs)
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

func (c *Client) writeBlobs(ctx context.Context, w io.Writer, blobs []cache.Digest) error {
	buffered := bufio.NewWriterSize(w, 64<<10)
	for _, d := range blobs {
		fmt.Fprintf(buffered, "%s\n", d)
		blob, err := c.store.Open(ctx, d)
		if err != nil {
			return err
		}
		n, err := io.Copy(buffered, blob)
		if err = errors.Join(err, blob.Close()); err != nil {
			return err
		}
		if n != d.Size {
			return &cache.CorruptError{Digest: d}
		}
	}
	return buffered.Flush()
}

// fetch brings a blob of the server into the client's store.
func (c *Client) fetch(ctx context.Context, d cache.Digest) error {
	if has, err := c.store.Has(ctx, d); err != nil || has {
		return err
	}
	return c.do(ctx, http.MethodGet, pathBlob+d.String(), nil, func(r *http.Response) error {
		got, err := c.store.Put(ctx, io.LimitReader(connection{r.Body}, d.Size+1))
		if err == nil && got != d {
			err = fmt.Errorf("blob %s arrived as %s", d, got)
		}
		return err
	})
}

// connection marks the errors of reading as those of a connection.
type connection struct{ r io.Reader }

func (c connection) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if err != nil && err != io.EOF {
		err = &cutError{err: err}
	}
	return n, err
}
