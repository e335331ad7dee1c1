package worker

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
)

// spool keeps the frames of one call while its session lasts, so that they can be sent again: all frames
// while they are few, and then the last ones. It must be written by one goroutine at a time.
type spool struct {
	ctx context.Context // of the call; writers stop waiting for readers when it ends
	dir string          // directory of its file

	mu      sync.Mutex
	small   []byte   // the content, while it is small
	file    *os.File // afterwards: a ring of window bytes
	size    int64    // bytes of all frames
	read    int64    // furthest offset of readers
	readers int
	done    bool
	changed chan struct{} // closed and replaced when the state changes
	err     error         // why no more frames can be kept
}

const (
	// inMemory is the maximum size of a spool without a file: most answers have a few bytes.
	inMemory = 64 << 10
	// window limits the spool. If a command prints faster than the connection transfers, it waits while half
	// of the window is unsent; the other half is for bytes that were sent and lost with a connection.
	window = 64 << 20
)

func newSpool(ctx context.Context, dir string) *spool {
	return &spool{ctx: ctx, dir: dir, changed: make(chan struct{})}
}

// errUnread means that a command had to wait for an absent client, so its exit is not reliable.
var errUnread error = &backend.PreemptedError{Err: errors.New("the connection was lost, and the command had to wait to print more")}

// errForgotten means that a reader requested bytes that were dropped.
var errForgotten error = &backend.PreemptedError{Err: errors.New("the connection was lost, and earlier output of the command was dropped")}

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
		if err := os.Remove(file.Name()); err != nil { // so it ends with the process
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

// finish adds the result. There is always one: a failed spool contains only the result.
func (s *spool) finish(r callResult) {
	if err := s.add(frameResult, encode(r)); err == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	s.notify()
}

// copy writes frames from an offset on as they are added, up to the result.
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

// readAt reads the available bytes at an offset. It returns 0 if more can follow after changed is closed,
// and io.EOF after the result.
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
		s.notify() // waits for readers
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

// stream writes a command's output as frames of a kind.
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
