package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
)

// A mount source is never a symlink, which would resolve on the machine, and commands cannot influence it by replacing
// paths.
func TestSeal(t *testing.T) {
	w, err := Make(filepath.Join(t.TempDir(), "base"), cache.NewMemory(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, err := range []error{
		w.Place(t.Context(), backend.Input{Path: "dir/f", Content: []byte("x")}, backend.Input{Path: "file", Content: []byte("x")}),
		os.Symlink("/", filepath.Join(w.Work(), "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"dir", "file", "link", "deep/absent"}
	for range 2 {
		sources, err := w.Seal(names...)
		if err != nil {
			t.Fatal(err)
		}
		for i, source := range sources {
			sealed, err := os.Lstat(source)
			place, wrong := os.Lstat(filepath.Join(w.Work(), names[i]))
			if err != nil || wrong != nil || sealed.Mode().Type() != place.Mode().Type() {
				t.Fatalf("%s: %v, and at its path %v, %v, %v", names[i], sealed, place, err, wrong)
			}
			if sealed.IsDir() != (names[i] != "file") || !sealed.IsDir() && place.Size() != 0 {
				t.Errorf("%s: %v, and at its path %v", names[i], sealed, place)
			}
		}
		// Commands can change anything above a mount point.
		if err := os.RemoveAll(filepath.Join(w.Work(), "deep")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/", filepath.Join(w.Work(), "deep")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Place(t.Context(), backend.Input{Path: "deep/absent/f", Content: []byte("x")}, backend.Input{Path: "link", Content: []byte("x"), Replace: true}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dir/f", "file", "deep/absent/f", "link"} {
		f, err := w.Collect(t.Context(), name)
		if err != nil {
			t.Error(err)
			continue
		}
		f.Close()
	}
	if err := w.Unseal(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"dir/f", "file", "deep/absent/f", "link"} {
		if info, err := os.Lstat(filepath.Join(w.Work(), name)); err != nil || info.Size() != 1 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
