package capped

import (
	"fmt"
	"io"
)

// Reader is an io.Reader that limits the size of parts, such as rows or tags. Bytes that its user reads ahead
// count for the current part.
type Reader struct {
	In   io.Reader
	Most int    // bytes of a part; whole MiB
	What string // "a row", for errors

	read int
}

// Next begins another part.
func (r *Reader) Next() { r.read = 0 }

// Read implements io.Reader. It fails once a part exceeds Most.
func (r *Reader) Read(p []byte) (int, error) {
	if r.read > r.Most {
		return 0, fmt.Errorf("%s is larger than %d MiB", r.What, r.Most>>20)
	}
	n, err := r.In.Read(p)
	r.read += n
	return n, err
}
