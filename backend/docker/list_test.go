package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/iotest"

	"github.com/fevalgraph/fevalgraph/backend"
)

// A listing ends before the content of a file that is too large, and after so many entries
// of any kind.
func TestFilesInIsBounded(t *testing.T) {
	archive := func(headers ...tar.Header) *bytes.Buffer {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range headers {
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			if h.Size > 1<<20 {
				return &b
			}
			if _, err := w.Write(make([]byte, h.Size)); err != nil {
				t.Fatal(err)
			}
		}
		w.Close()
		return &b
	}
	file := func(name string, size int64) tar.Header {
		return tar.Header{Name: name, Typeflag: tar.TypeReg, Size: size}
	}
	names, err := filesIn(archive(tar.Header{Name: "logs/", Typeflag: tar.TypeDir}, file("logs/b", 3), file("logs/a", 5)), "logs", 2)
	if err != nil || fmt.Sprint(names) != "[logs/a logs/b]" {
		t.Errorf("%v, %v", names, err)
	}
	unread := iotest.ErrReader(errors.New("the content was read"))
	if _, err := filesIn(io.MultiReader(archive(file("logs/a", 3), file("logs/b", maxListed)), unread), "logs", 2); !errors.Is(err, backend.ErrManyFiles) {
		t.Errorf("a large file: %v", err)
	}
	var folders []tar.Header
	for i := range 5 {
		folders = append(folders, tar.Header{Name: fmt.Sprintf("logs/%d/", i), Typeflag: tar.TypeDir})
	}
	if _, err := filesIn(archive(folders...), "logs", 2); !errors.Is(err, backend.ErrManyFiles) {
		t.Errorf("many directories: %v", err)
	}
	if _, err := filesIn(archive(file("logs/a", 0), file("logs/b", 0)), "logs", 1); !errors.Is(err, backend.ErrManyFiles) {
		t.Errorf("many files: %v", err)
	}
}
