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
	err := c.supply(ctx, needs)
	if err == nil {
		err = do()
	}
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
	needs, done, err := c.claim(ctx, needs)
	if err != nil || len(needs) == 0 {
		return err
	}
	defer done()
	seen := map[cache.Output]bool{}
	var all []cache.Digest
	c.mu.Lock()
	for d := range c.there {
		seen[cache.Output{Digest: d}], seen[cache.Output{Digest: d, Tree: true}] = true, true // with a tree, all that is in it
	}
	c.mu.Unlock()
	for _, o := range needs {
		err := cache.EachBlob(ctx, c.store, o, seen, func(o cache.Output) error {
			all = append(all, o.Digest)
			return nil
		})
		if err != nil {
			return err
		}
	}
	if len(all) == 0 {
		return nil
	}
	lacks, again := all, false
	err = c.persist(ctx, func() error {
		var still []cache.Digest
		body := encode(lacks)
		if err := c.once(ctx, http.MethodPost, pathMissing, body, func(r *http.Response) error { return readJSON(r.Body, &still) }); err != nil {
			return err
		}
		progress := again && len(still) < len(lacks) // what arrived before a cut is not sent again
		lacks, again = still, true
		if len(lacks) == 0 {
			return nil
		}
		err := c.upload(ctx, lacks)
		if cut := (*cutError)(nil); errors.As(err, &cut) {
			cut.progress = progress
		}
		return err
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range all {
		c.there[d] = true
	}
	return nil
}

// claim returns those of needs that the server may lack, once no other caller is sending any of
// them. Others wait for the same until done is called: nodes that start together begin with
// the same trees.
func (c *Client) claim(ctx context.Context, needs []cache.Output) (left []cache.Output, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		left = nil
		var other chan struct{}
		for _, o := range needs {
			if c.there[o.Digest] {
				continue
			}
			left = append(left, o)
			if other == nil {
				other = c.onWay[o.Digest]
			}
		}
		if other == nil {
			break
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
		c.mu.Lock()
		if err != nil {
			return nil, nil, err
		}
	}
	mine := make(chan struct{})
	for _, o := range left {
		c.onWay[o.Digest] = mine
	}
	return left, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, o := range left {
			delete(c.onWay, o.Digest)
		}
		close(mine)
	}, nil
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
		c.mu.Lock()
		c.sent += n
		c.mu.Unlock()
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
