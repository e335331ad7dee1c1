package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/reapi"
)

// Open implements cache.Lower. The blob is stored locally before it is read. If it cannot be fetched for
// any reason, the error is a *cache.MissingError.
func (s *Store) Open(ctx context.Context, d cache.Digest) (io.ReadCloser, error) {
	r, err := s.o.Kept.Open(ctx, d)
	var missing *cache.MissingError
	if err == nil || !errors.As(err, &missing) {
		return r, err
	}
	_, err, _ = s.reading.Do(d.String(), func() (any, error) {
		return nil, s.read(ctx, []cache.Digest{d})
	})
	if err != nil {
		return nil, err
	}
	return s.o.Kept.Open(ctx, d)
}

// Fetch implements cache.Fetcher. Trees are fetched level by level. If the root of a tree is local, so is
// the rest, or it is fetched when it is read.
func (s *Store) Fetch(ctx context.Context, outputs []cache.Output) {
	var blobs, directories []cache.Digest
	for _, o := range outputs {
		if o.Tree {
			directories = append(directories, o.Digest)
		} else {
			blobs = append(blobs, o.Digest)
		}
	}
	seen := map[cache.Digest]bool{}
	for len(blobs)+len(directories) > 0 && s.readable() && ctx.Err() == nil {
		blobs, directories = s.absentHere(ctx, seen, blobs), s.absentHere(ctx, seen, directories)
		_ = s.read(ctx, append(blobs, directories...)) // blobs that were not fetched are missing later
		blobs, directories = s.entries(ctx, directories)
	}
}

// absentHere returns the distinct blobs that are not on this machine.
func (s *Store) absentHere(ctx context.Context, seen map[cache.Digest]bool, blobs []cache.Digest) (absent []cache.Digest) {
	for _, d := range blobs {
		if seen[d] {
			continue
		}
		seen[d] = true
		here, err := s.o.Local.Has(ctx, d)
		if !here && err == nil && s.o.Kept != s.o.Local {
			here, err = s.o.Kept.Has(ctx, d)
		}
		if !here && err == nil {
			absent = append(absent, d)
		}
	}
	return absent
}

// entries returns the entries of directories that are stored locally.
func (s *Store) entries(ctx context.Context, directories []cache.Digest) (files, below []cache.Digest) {
	for _, d := range directories {
		directory, err := readDirectory(ctx, s.o.Kept, d)
		if err != nil {
			continue // its reader reports the error
		}
		for _, f := range directory.Files {
			files = appendDigest(files, f.Digest)
		}
		for _, sub := range directory.Directories {
			below = appendDigest(below, sub.Digest)
		}
	}
	return files, below
}

const maxDirectory = 64 << 20

func readDirectory(ctx context.Context, from cache.Store, d cache.Digest) (*execution.Directory, error) {
	content, err := cache.ReadBlob(ctx, from, d, maxDirectory)
	if err != nil {
		return nil, err
	}
	directory := new(execution.Directory)
	return directory, proto.Unmarshal(content, directory)
}

func appendDigest(all []cache.Digest, d *execution.Digest) []cache.Digest {
	if parsed, err := cache.ParseDigest(fmt.Sprintf("%s/%d", d.GetHash(), d.GetSizeBytes())); err == nil {
		all = append(all, parsed)
	}
	return all
}

// read fetches blobs. It returns the error of the first blob that could not be fetched.
func (s *Store) read(ctx context.Context, blobs []cache.Digest) error {
	if len(blobs) == 0 {
		return nil
	}
	if !s.readable() {
		return lostError(blobs[0], errors.New("the remote cache is disabled"))
	}
	var mu sync.Mutex
	left := make(map[cache.Digest]bool, len(blobs))
	for _, d := range blobs {
		left[d] = true
	}
	if empty := cache.SumBytes(nil); left[empty] { // not every server stores it
		if err := s.keep(ctx, empty, &counter{r: strings.NewReader(""), progress: func(int64) {}}); err != nil {
			return err
		}
		if delete(left, empty); len(left) == 0 {
			return nil
		}
	}
	err := s.wait(ctx, func(ctx context.Context, progress func(int64)) error {
		mu.Lock()
		ask := blobs[:0:0]
		for _, d := range blobs {
			if left[d] {
				ask = append(ask, d)
			}
		}
		mu.Unlock()
		var wrong error // of one blob; the others are fetched
		err := s.transport.Read(ctx, ask, func(d cache.Digest, r io.Reader) error {
			err := s.keep(ctx, d, &counter{r: r, progress: progress})
			var refused *reapi.RefusedError
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				delete(left, d)
			case errors.As(err, &refused):
				wrong = err
				return nil
			}
			return err
		})
		return cmp.Or(err, wrong)
	})
	if len(left) == 0 {
		return nil
	}
	var missing *cache.MissingError
	if ctx.Err() != nil || err != nil && isLocal(err) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for d := range left {
		s.lostBlobs[d] = true
	}
	for _, d := range blobs {
		if left[d] {
			if err == nil || errors.As(err, &missing) {
				return &cache.MissingError{Digest: d}
			}
			return lostError(d, err)
		}
	}
	return nil
}

// keep stores a blob, if it matches its digest.
func (s *Store) keep(ctx context.Context, d cache.Digest, r *counter) error {
	got, err := s.o.Kept.Put(ctx, io.LimitReader(r, d.Size+1))
	switch {
	case r.err != nil:
		return r.err
	case err != nil:
		return &localError{err}
	case got != d:
		return &reapi.RefusedError{Err: fmt.Errorf("it returned blob %s with a wrong digest", d)}
	}
	return nil
}

// counter reports the bytes read, and stores errors of its reader separately.
type counter struct {
	r        io.Reader
	progress func(int64)
	err      error
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.progress(int64(n))
	if err != nil && err != io.EOF {
		c.err = err
	}
	return n, err
}
