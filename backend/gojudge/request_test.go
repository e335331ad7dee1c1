package gojudge

import (
	"errors"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// Files that exceed their directory are rejected before a request, because go-judge reports them like a full disk.
func TestFits(t *testing.T) {
	file := func(size int64) backend.File { return backend.File{Digest: cache.Digest{Size: size}} }
	for _, try := range []struct {
		name  string
		files []backend.File
		fits  bool
	}{
		{"nothing", nil, true},
		{"a usual output", []backend.File{file(64 << 20), file(1 << 20), {Content: []byte("x")}}, true},
		{"a file of the same size", []backend.File{file(directoryRoom)}, false},
		{"two halves", []backend.File{file(directoryRoom / 2), file(directoryRoom / 2)}, false},
	} {
		err := checkRoom([]backend.Program{{}, {Files: try.files}})
		if (err == nil) != try.fits || err != nil && !errors.Is(err, backend.ErrNoRoom) {
			t.Errorf("%s: %v", try.name, err)
		}
	}
}
