package gojudge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
	"github.com/fevalgraph/fevalgraph/internal/proof"
	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// Options configures a Sandbox.
type Options struct {
	// Versions are shell commands, run in the sandbox, whose output is part of
	// the identity.
	Versions []string
	// Facts is a directory that stores the identity of a server that a run starts, sealed at Place; "" stores
	// nothing. FactsReadOnly prevents writing to it.
	Facts         string
	Place         proof.Place
	FactsReadOnly bool
}

// Sandbox implements backend.Sandbox. Several can share a Server.
type Sandbox struct {
	server *Server
	opt    Options

	asking sync.Mutex // held while the identity is queried
}

var _ backend.Sandbox = (*Sandbox)(nil)

// New returns a sandbox on a server.
func New(s *Server, o Options) *Sandbox { return &Sandbox{server: s, opt: o} }

// Maximum number of times that a request is sent again if go-judge has not begun it. These are not
// attempts: no program ran.
const (
	busyTries = 9 // for errBusy, which about one in a hundred requests causes
	fullTries = 1
	lostTries = 1 // a restarted server has lost all files
)

// Run implements backend.Sandbox.
func (s *Sandbox) Run(ctx context.Context, programs ...backend.Program) ([]backend.Ending, error) {
	return s.run(ctx, nil, programs)
}

// run keeps the outputs of programs in a store; nil means the server's store.
func (s *Sandbox) run(ctx context.Context, into cache.Store, programs []backend.Program) ([]backend.Ending, error) {
	if err := check(programs); err != nil {
		return nil, fmt.Errorf("running in the sandbox: %w", err)
	}
	if s.server.opt != nil {
		if err := checkRoom(programs); err != nil {
			return nil, fmt.Errorf("running in the sandbox: %w", err)
		}
	}
	busy, missing := retry.Tries{Patience: retry.Patience{Calls: busyTries, Pause: time.Millisecond, Longest: busyTries * time.Millisecond}}, 0
	full := 0
	for {
		c, err := s.server.use(ctx)
		if err != nil {
			return nil, err
		}
		if into == nil {
			into = c.store
		}
		ends, err := c.run(ctx, into, programs)
		if err == nil {
			return ends, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		l := lostFileOf(err)
		switch {
		case errors.Is(err, errBusy) && busy.Wait(ctx, err) == nil:
			continue
		case l != nil && missing < lostTries:
			// It reports one missing file, but might have lost all.
			missing++
			c.uploader.clear()
			c.uploader.forget(l.id)
			continue
		case full < fullTries && exhaustion.Is(err) && !errors.Is(err, backend.ErrSpoiled): // perhaps by files that are kept for later requests
			full++
			c.uploader.clear()
			continue
		}
		return nil, s.server.explain(c.process.reason(err))
	}
}

// run sends one request and collects its outputs.
func (c *connection) run(ctx context.Context, into cache.Store, programs []backend.Program) ([]backend.Ending, error) {
	if err := c.checkRoom(); err != nil {
		return nil, err
	}
	l := &loans{c: c}
	defer l.release()
	request, err := l.request(ctx, programs)
	if err != nil {
		return nil, err
	}
	longest := time.Duration(0)
	for i := range programs {
		longest = max(longest, programs[i].Limits.Clock)
	}
	limited, cancel := context.WithTimeoutCause(ctx, longest+resultPatience, errNoAnswer)
	defer cancel()
	look, full := c.contention(), exhaustion.Watch(c.checkRoom)
	results, err := c.client.run(limited, request)
	// If the disk is full, go-judge truncates output without an error.
	filled := cmp.Or(full(), c.checkRoom())
	if err != nil {
		return nil, err
	}
	defer c.clean(results)
	if filled != nil {
		return nil, backend.Spoiled(fmt.Errorf("running %q: %w", programs[0].Argv[0], filled))
	}
	contended := look()
	ends := make([]backend.Ending, len(programs))
	for i := range programs {
		if ends[i], err = ending(&results[i], &programs[i]); err == nil {
			ends[i].Contended = contended
			err = c.collect(limited, into, &ends[i], &results[i], &programs[i])
		}
		if err != nil {
			if err = fmt.Errorf("running %q: %w", programs[i].Argv[0], err); exhaustion.Is(err) && !exhaustion.IsOwn(err) {
				err = backend.Spoiled(err)
			}
			return nil, err
		}
	}
	return ends, nil
}

// checkRoom returns an error if the disk is known to be too full for the outputs of programs.
func (c *connection) checkRoom() error {
	if c.process == nil {
		return nil
	}
	return exhaustion.Room(c.dir)
}

// collect collects the outputs of a program. It removes the ids of collected files from r, so that clean
// skips them.
func (c *connection) collect(ctx context.Context, into cache.Store, end *backend.Ending, r *wireResult, p *backend.Program) error {
	var err error
	if id, there := r.FileIDs[stdoutName]; there {
		if end.Stdout, err = c.fetch(ctx, into, r, stdoutName, id, p.Limits.Stdout); err != nil {
			return fmt.Errorf("its standard output: %w", err)
		}
	}
	for _, name := range p.Keep {
		clean := path.Clean(name)
		id, there := r.FileIDs[clean]
		if !there {
			continue
		}
		digest, err := c.fetch(ctx, into, r, clean, id, -1)
		if err != nil {
			return fmt.Errorf("file %q: %w", name, err)
		}
		end.Kept = append(end.Kept, backend.KeptFile{Path: name, Digest: digest})
	}
	return nil
}

// fetch copies the first limit bytes of a file to a store, or the whole file if limit is negative.
func (c *connection) fetch(ctx context.Context, into cache.Store, r *wireResult, name, id string, limit int64) (cache.Digest, error) {
	if c.process == nil {
		content, err := c.download(ctx, id)
		if err != nil {
			return cache.Digest{}, err
		}
		defer content.Close()
		return keep(ctx, into, &answerReader{c: c.client, ctx: ctx, r: content}, limit)
	}
	from := filepath.Join(c.dir, filepath.Base(id))
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return cache.Digest{}, &lostFile{id: id}
	}
	if err != nil {
		return cache.Digest{}, err
	}
	defer f.Close()
	digest, err := keep(ctx, into, f, limit)
	if err != nil {
		return cache.Digest{}, err
	}
	if c.uploader.wantsBlob(digest) && f.Truncate(digest.Size) == nil && c.adopt(digest, from) {
		delete(r.FileIDs, name)
	}
	return digest, nil
}

// adopt moves a file of the server to the directory that it reads from, since the output of a program is
// usually the input of the next.
func (c *connection) adopt(digest cache.Digest, from string) bool {
	m := c.destination.(mirror)
	name, err := m.moveIn(from)
	if err != nil {
		return false
	}
	if !c.uploader.adopt(digest, name) {
		m.drop(name)
	}
	return true
}

// clean removes the files of results that were not collected.
func (c *connection) clean(results []wireResult) {
	for i := range results {
		for _, id := range results[i].FileIDs {
			if c.process != nil {
				os.Remove(filepath.Join(c.dir, filepath.Base(id)))
				continue
			}
			uploads{c.client}.drop(id)
		}
	}
}

// inMemory is how many bytes of an output are read before it is written: most outputs are short, and many
// are already in the store.
const inMemory = 64 << 10

// keep stores the first limit bytes of r, or all if limit is negative.
func keep(ctx context.Context, store cache.Store, r io.Reader, limit int64) (cache.Digest, error) {
	if limit >= 0 {
		r = io.LimitReader(r, limit)
	}
	var head bytes.Buffer
	n, err := io.Copy(&head, io.LimitReader(r, inMemory))
	if err != nil {
		return cache.Digest{}, err
	}
	if n == inMemory {
		return store.Put(ctx, io.MultiReader(&head, r))
	}
	digest := cache.SumBytes(head.Bytes())
	if there, err := store.Has(ctx, digest); err != nil || there {
		return digest, err
	}
	return store.Put(ctx, &head)
}

// answerReader wraps errors of reading an answer as errors of the server.
type answerReader struct {
	c   *client
	ctx context.Context
	r   io.Reader
}

func (t *answerReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if err != nil && err != io.EOF {
		err = t.c.trouble(t.ctx, err)
	}
	return n, err
}
