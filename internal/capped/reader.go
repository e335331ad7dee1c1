package capped

import (
	"fmt"
	"io"
)

// Reader is an io.Reader of parts, such as rows or tags, that are at most so large. Its user reads ahead, which
// counts for the part that it reads ahead in.
type Reader struct {
	In   io.Reader
	Most int    // bytes of a part, whole MiB
	What string // "a row", for the error

	read int
}

// Next begins another part.
func (r *Reader) Next() { r.read = 0 }

// Read implements io.Reader. It fails once a part has more than Most.
func (r *Reader) Read(p []byte) (int, error) {
	if r.read > r.Most {
		return 0, fmt.Errorf("%s has more than %d MiB", r.What, r.Most>>20)
	}
	n, err := r.In.Read(p)
	r.read += n
	return n, err
}
