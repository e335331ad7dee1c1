package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
)

// spool keeps the frames of one call for as long as its session lasts, so that they can
// be sent again: all of them while they are few, then the last ones. It is written by one
// goroutine at a time.
type spool struct {
	ctx context.Context // of the call: nothing waits for a reader when it has ended
	dir string          // where its file is, once there is much

	mu      sync.Mutex
	small   []byte   // all of it, while that is little
	file    *os.File // from then on: a ring of window bytes
	size    int64    // bytes of all frames
	read    int64    // the furthest that a reader has come
	readers int
	done    bool
	changed chan struct{} // closed, and made again, when any of this changes
	err     error         // why nothing can be kept any more
}

const (
	// inMemory bounds the part of a spool that needs no file: most calls answer in a few bytes.
	inMemory = 64 << 10
	// window bounds the spool. A command that prints faster than the connection transfers waits when half of
	// it was not sent yet; the other half is for bytes that were sent and lost with a connection.
	window = 64 << 20
)

func newSpool(ctx context.Context, dir string) *spool {
	return &spool{ctx: ctx, dir: dir, changed: make(chan struct{})}
}

// errUnread reports that a command had to wait for a client that was not there: how it ended
// cannot be believed.
var errUnread error = &backend.PreemptedError{Err: errors.New("the connection was lost while the command printed a lot")}

// errForgotten reports that a reader requests bytes that were dropped.
var errForgotten error = &backend.PreemptedError{Err: errors.New("the connection was lost, and earlier output of the command is gone")}

func (s *spool) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// add appends a frame.
func (s *spool) add(kind byte, data []byte) error {
	for kind != frameResult && len(data) > frameSize {
		if err := s.add(kind, data[:frameSize]); err != nil {
			return err
		}
		data = data[frameSize:]
	}
	head := frameHead(kind, len(data))
	n := int64(len(head) + len(data))
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && kind != frameResult && s.size+n-s.read > window/2 {
		if s.readers == 0 {
			s.err = errUnread
			break
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-s.ctx.Done():
		}
		s.mu.Lock()
		if s.ctx.Err() != nil {
			return context.Cause(s.ctx)
		}
	}
	for _, part := range [][]byte{head[:], data} {
		if s.err == nil {
			s.err = s.append(part)
		}
	}
	s.done = kind == frameResult
	s.notify()
	return s.err
}

func (s *spool) append(b []byte) error {
	if s.file == nil {
		if len(s.small)+len(b) <= inMemory {
			s.small = append(s.small, b...)
			s.size += int64(len(b))
			return nil
		}
		file, err := os.CreateTemp(s.dir, "call-")
		if err != nil {
			return err
		}
		s.file = file
		if err := os.Remove(file.Name()); err != nil { // it goes with the process
			return err
		}
		if _, err := file.Write(s.small); err != nil {
			return err
		}
		s.small = nil
	}
	for len(b) > 0 {
		at := s.size % window
		part := b[:min(int64(len(b)), window-at)]
		if _, err := s.file.WriteAt(part, at); err != nil {
			return err
		}
		s.size += int64(len(part))
		b = b[len(part):]
	}
	return nil
}

// finish adds the result. There is one in any case: a spool that failed has nothing else.
func (s *spool) finish(r callResult) {
	if err := s.add(frameResult, encode(r)); err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	s.notify()
}

// copy writes everything from an offset on, as it comes, until the result.
func (s *spool) copy(ctx context.Context, w io.Writer, flush func(), from int64) error {
	s.mu.Lock()
	s.readers++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.readers--
		s.notify()
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, changed, err := s.readAt(buffer, from)
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if n == 0 {
			flush()
			select {
			case <-changed:
				continue
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if _, err := w.Write(buffer[:n]); err != nil {
			return err
		}
		from += int64(n)
	}
}

// readAt reads what there is at an offset: nothing, if there can be more when changed is
// closed, or io.EOF behind the result.
func (s *spool) readAt(into []byte, from int64) (n int, changed <-chan struct{}, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = max(s.read, min(from, s.size))
	switch {
	case s.err != nil:
		return 0, nil, s.err
	case from > s.size || from < s.size-window:
		return 0, nil, errForgotten
	case from == s.size && s.done:
		return 0, nil, io.EOF
	case s.file == nil:
		return copy(into, s.small[from:]), s.changed, nil
	}
	at := from % window
	into = into[:min(int64(len(into)), s.size-from, window-at)]
	if len(into) > 0 {
		n, err = s.file.ReadAt(into, at)
		s.notify() // of read
	}
	return n, s.changed, err
}

func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
	}
	s.file, s.small, s.err = nil, nil, errEnded
	s.notify()
}

// stream writes a command's output to a kind of frames.
type stream struct {
	to   frames
	kind byte
}

func (s stream) Write(p []byte) (int, error) {
	if err := s.to.add(s.kind, p); err != nil {
		return 0, err
	}
	return len(p), nil
}
