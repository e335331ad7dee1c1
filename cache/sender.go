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

// Source has the blobs that are sent. A Store is one.
type Source interface {
	Open(ctx context.Context, d Digest) (io.ReadCloser, error)
}

// SourceError reports a blob that could not be read where it was to be sent from: no fault of
// the server.
type SourceError struct {
	Digest Digest
	Err    error
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("reading blob %s to be sent: %v", e.Digest, e.Err)
}
func (e *SourceError) Unwrap() error { return e.Err }

// Server receives blobs. Its methods are called by several goroutines at once, and end when the
// connection to it is closed.
type Server interface {
	// Missing returns those of the blobs that the server does not have.
	Missing(ctx context.Context, blobs []Digest) ([]Digest, error)
	// Put sends blobs. An error for one blob, such as a *SourceError, is in failed, and keeps no
	// other blob from being sent.
	Put(ctx context.Context, blobs []Digest, from Source) (failed map[Digest]error, err error)
}

// Sender sends blobs and trees to a server that does not have them. What many callers ask for at
// the same time shares calls, and each blob is sent once. It remembers what the server has; when the
// server turns out to have lost some, Forget makes it ask again. It is safe for concurrent use.
type Sender struct {
	SendEmpty bool // the server does not know the empty blob by itself; set before use

	to       Server
	question int           // blobs in a call of Missing
	slots    chan struct{} // of rounds under way

	mu    sync.Mutex
	next  *round            // collects blobs; nil unless a round waits for a slot
	going map[Digest]*round // blobs in rounds
	// recent are outputs that the server has, trees with all that is in them. When recent has
	// maxKnown, it becomes old, and what was old is forgotten.
	recent, old map[Output]bool
	epoch       int // counts what was forgotten
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

// NewSender returns a Sender that knows nothing of the server yet; question limits the blobs in a
// call of Missing.
func NewSender(to Server, question int) *Sender {
	return &Sender{to: to, question: question, slots: make(chan struct{}, rounds), going: map[Digest]*round{}, recent: map[Output]bool{}, old: map[Output]bool{}}
}

// Epoch returns a number that changes when Forget forgets.
func (s *Sender) Epoch() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// Forget makes the sender ask for everything again, unless it has done so since epoch: the
// one before the upload of what is now missing. Many actions miss blobs of one lost server.
func (s *Sender) Forget(epoch int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch == epoch {
		s.epoch++
		s.recent, s.old = map[Output]bool{}, map[Output]bool{}
	}
}

// Has tells the sender that the server has outputs: trees with all that is in them.
func (s *Sender) Has(outputs ...Output) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range outputs {
		s.know(o)
	}
}

// know needs the lock.
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

// knows needs the lock.
func (s *Sender) knows(o Output) bool {
	o.Name = ""
	if !s.recent[o] && s.old[o] {
		s.know(o)
	}
	return s.recent[o]
}

// Outputs makes the server have blobs and trees of a store. Of a tree that the server has
// the store needs nothing. What the store lacks is a *MissingError.
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

// Blobs makes the server have blobs.
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

// Send makes the server have those of the blobs that have no error in failed.
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

// join adds a blob to the next round; it needs the lock. A round begins at once, unless the
// maximum number of rounds is running: blobs are collected until one ends.
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

// run sends what the server lacks. It belongs to no caller: others wait for it, too.
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

// sources have a blob each.
type sources map[Digest]Source

// Open implements Source.
func (s sources) Open(ctx context.Context, d Digest) (io.ReadCloser, error) {
	from, ok := s[d]
	if !ok { // the server requested blobs that were not queried
		return nil, &MissingError{Digest: d}
	}
	return from.Open(ctx, d)
}
