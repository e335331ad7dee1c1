package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
)

// Source provides the blobs to send. Every Store is a Source.
type Source interface {
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)
}

// SourceError means that a blob could not be read from its Source, so the server is not at fault.
type SourceError struct {
	Digest Digest
	Err    error
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("reading blob %s to be sent: %v", e.Digest, e.Err)
}
func (e *SourceError) Unwrap() error { return e.Err }

// Server receives blobs. Its methods are called concurrently, and return when its connection is closed.
type Server interface {
	// Missing returns the blobs that the server lacks.
	Missing(ctx context.Context, blobs []Digest) ([]Digest, error)
	// Put sends blobs. failed contains errors about single blobs, such as a *SourceError, which do not prevent
	// sending the others.
	Put(ctx context.Context, blobs []Digest, from Source) (failed map[Digest]error, err error)
}

// Sender sends blobs and trees that a server lacks. Concurrent callers share calls, and each blob is sent
// once. It remembers which blobs the server has; if the server lost some, Forget makes it query again. It
// is safe for concurrent use.
type Sender struct {
	SendEmpty bool // the server does not know the empty blob implicitly; set before use

	to       Server
	question int           // blobs in a call of Missing
	slots    chan struct{} // of running rounds

	mu    sync.Mutex
	next  *round            // collects blobs; nil unless a round waits for a slot
	going map[Digest]*round // blobs in rounds
	// recent are outputs that the server has, trees with all that is in them. When recent reaches maxKnown, it
	// replaces old.
	recent, old map[Output]bool
	epoch       int // incremented by Forget
}

// round is a set of blobs that are sent together.
type round struct {
	from   map[Digest]Source
	done   chan struct{} // closed at its end
	err    error         // of all blobs
	failed map[Digest]error
}

const (
	rounds   = 4       // at once
	maxKnown = 1 << 19 // about 60 MB, twice
)

// NewSender returns a Sender without knowledge of the server; question limits the blobs in a call of
// Missing.
func NewSender(to Server, question int) *Sender {
	return &Sender{to: to, question: question, slots: make(chan struct{}, rounds), going: map[Digest]*round{}, recent: map[Output]bool{}, old: map[Output]bool{}}
}

// Epoch returns a number that changes with each effective Forget.
func (s *Sender) Epoch() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// Forget makes the sender query all blobs again, unless that happened since epoch, which the caller read
// before it uploaded the missing blobs: many actions notice the same loss.
func (s *Sender) Forget(epoch int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch == epoch {
		s.epoch++
		s.recent, s.old = map[Output]bool{}, map[Output]bool{}
	}
}

// Has records that the server has outputs, including all content of trees.
func (s *Sender) Has(outputs ...Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range outputs {
		s.know(o)
	}
}

// know records an output that the server has. The caller must hold the lock.
func (s *Sender) know(o Output) {
	if len(s.recent) >= maxKnown {
		s.recent, s.old = map[Output]bool{}, s.recent
	}
	s.recent[Output{Digest: o.Digest, Tree: o.Tree}] = true
}

// Knows reports whether the server is known to have an output.
func (s *Sender) Knows(o Output) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.knows(o)
}

// knows implements Knows. The caller must hold the lock.
func (s *Sender) knows(o Output) bool {
	o.Name = ""
	if !s.recent[o] && s.old[o] {
		s.know(o)
	}
	return s.recent[o]
}

// Outputs sends blobs and trees of a store that the server lacks. The store need not contain trees that
// the server has. For other missing content, it returns a *MissingError.
func (s *Sender) Outputs(ctx context.Context, from Store, outputs ...Output) error {
	epoch := s.Epoch()
	var blobs []Digest
	var trees []Output
	seen := map[Output]bool{}
	for _, o := range outputs {
		err := EachBlob(ctx, from, o, seen, func(o Output) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			switch {
			case !o.Tree:
				blobs = append(blobs, o.Digest)
			case s.knows(o):
				return fs.SkipDir
			default:
				blobs, trees = append(blobs, o.Digest), append(trees, o)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := s.Blobs(ctx, from, blobs...); err != nil {
		return err
	}
	if epoch == s.Epoch() {
		s.Has(trees...)
	}
	return nil
}

// Blobs sends the blobs that the server lacks.
func (s *Sender) Blobs(ctx context.Context, from Source, blobs ...Digest) error {
	failed, err := s.Send(ctx, from, blobs...)
	if err != nil {
		return err
	}
	for _, d := range blobs {
		if why := failed[d]; why != nil {
			if own := (*SourceError)(nil); errors.As(why, &own) {
				why = own.Err
			}
			return fmt.Errorf("sending blob %s: %w", d, why)
		}
	}
	return nil
}

// Send sends the blobs that the server lacks, except those with an error in failed.
func (s *Sender) Send(ctx context.Context, from Source, blobs ...Digest) (failed map[Digest]error, err error) {
	waits := map[*round][]Digest{}
	s.mu.Lock()
	for _, d := range blobs {
		if d.Size == 0 && !s.SendEmpty || s.knows(Output{Digest: d}) {
			continue
		}
		r := s.going[d]
		if r == nil {
			r = s.join(d, from)
		}
		waits[r] = append(waits[r], d)
	}
	s.mu.Unlock()
	failed = map[Digest]error{}
	for r, mine := range waits {
		select {
		case <-r.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if r.err != nil {
			return nil, r.err
		}
		for _, d := range mine {
			if err := r.failed[d]; err != nil {
				failed[d] = err
			}
		}
	}
	return failed, nil
}

// join adds a blob to the next round. The caller must hold the lock. A round begins immediately, unless
// the maximum number of rounds is running: blobs are collected until one ends.
func (s *Sender) join(d Digest, from Source) *round {
	if s.next == nil {
		r := &round{from: map[Digest]Source{}, done: make(chan struct{})}
		s.next = r
		go func() {
			s.slots <- struct{}{}
			defer func() { <-s.slots }()
			s.run(r)
		}()
	}
	s.next.from[d] = from
	s.going[d] = s.next
	return s.next
}

// run sends the blobs of a round that the server lacks. It does not use a caller's context, since several
// callers wait for it.
func (s *Sender) run(r *round) {
	s.mu.Lock()
	if s.next == r {
		s.next = nil
	}
	epoch := s.epoch
	all := make([]Digest, 0, len(r.from))
	for d := range r.from {
		all = append(all, d)
	}
	s.mu.Unlock()
	r.err = s.send(r, all)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range all {
		delete(s.going, d)
		if r.err == nil && r.failed[d] == nil && s.epoch == epoch {
			s.know(Output{Digest: d})
		}
	}
	close(r.done)
}

func (s *Sender) send(r *round, all []Digest) error {
	ctx := context.Background() // calls end with the connection
	var missing []Digest
	for some := range slices.Chunk(all, s.question) {
		lacks, err := s.to.Missing(ctx, some)
		if err != nil {
			return err
		}
		missing = append(missing, lacks...)
	}
	if len(missing) == 0 {
		return nil
	}
	var err error
	r.failed, err = s.to.Put(ctx, missing, sources(r.from))
	return err
}

// sources maps blobs to their Sources.
type sources map[Digest]Source

// Open implements Source.
func (s sources) Open(ctx context.Context, d Digest) (io.ReadCloser, error) {
	from, ok := s[d]
	if !ok { // the server requested blobs that were not queried
		return nil, &MissingError{Digest: d}
	}
	return from.Open(ctx, d)
}
