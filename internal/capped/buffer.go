// Package capped limits input and output of any length. A Buffer keeps the beginning and the end of output, so
// that a program which prints endlessly needs neither memory nor disk space; it cannot be read while it is
// written. A Reader fails if a part of its input is too large.
package capped

import (
	"fmt"
	"sync"
)

// Buffer is an io.Writer that keeps the first Head and the last Tail bytes of its input. It is safe for
// concurrent use.
type Buffer struct {
	Head, Tail int // bytes; 0 means DefaultKept

	mu      sync.Mutex
	head    []byte
	tail    []byte
	dropped int64
}

// DefaultKept is enough for any log that a human reads.
const DefaultKept = 4 << 20

// Write never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(p)
	if room := orDefault(b.Head) - len(b.head); room > 0 {
		k := min(room, len(p))
		b.head = append(b.head, p[:k]...)
		p = p[k:]
	}
	b.tail = append(b.tail, p...)
	// Trim only at twice the size: copying at every write would be quadratic.
	if keep := orDefault(b.Tail); len(b.tail) > 2*keep {
		over := len(b.tail) - keep
		b.dropped += int64(over)
		b.tail = append(b.tail[:0], b.tail[over:]...)
	}
	return n, nil
}

// Bytes returns a copy of what was kept, with a line that states how much was dropped.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := append([]byte(nil), b.head...)
	if b.dropped > 0 {
		out = fmt.Appendf(out, "\n[... %d bytes dropped ...]\n", b.dropped)
	}
	return append(out, b.tail...)
}

func orDefault(n int) int {
	if n == 0 {
		return DefaultKept
	}
	return n
}
