package cache

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// copyFile does what cloneFile does, on any file system.
func copyFile(to, from *os.File) error {
	_, err := io.Copy(to, from)
	return err
}

func TestPlaceShelf(t *testing.T) {
	d := openDisk(t)
	_, s := shelfOf(t, d)
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "dst", "bin", "run", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(top, "dst", "data")); err != nil {
		t.Fatal(err)
	}
	at, err := os.OpenRoot(top)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := placeClones(t.Context(), d, s, at, "dst", copyFile); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		".": "drwxr-xr-x", "bin": "drwxr-xr-x", "bin/run": "-rwxr-xr-x bin/run", "data": "-rw-r--r-- data", "link": "-> data", "none": "drwxr-xr-x",
	}
	if got := placed(t, filepath.Join(top, "dst")); !equalMaps(got, want) {
		t.Errorf("placed %q\nwant %q", got, want)
	}
	unsupported := func(_, _ *os.File) error { return fmt.Errorf("here: %w", errors.ErrUnsupported) }
	if err := placeClones(t.Context(), d, s, at, "other", unsupported); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want errors.ErrUnsupported", err)
	}
	// Whoever cloned a shelf that somebody was changing is told.
	overwriteNew(t, filepath.Join(s.Tree(), "work/assets/data"), "evil")
	if err := placeClones(t.Context(), d, s, at, "third", copyFile); err == nil {
		t.Error("a changed shelf was cloned")
	}
}

// A file system clones, or says that it does not.
func TestCloneFile(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	err := CanClone(from, to)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	for _, dir := range []string{from, to} {
		if left := listing(t, dir); len(left) > 0 {
			t.Errorf("left are %v", left)
		}
	}
	if err := CanClone(filepath.Join(from, "absent"), to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if err != nil {
		return // nothing more can be seen here
	}
	d, err := OpenDisk(filepath.Join(from, "store"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, s := shelfOf(t, d)
	at, err := os.OpenRoot(to)
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	if err := PlaceShelf(t.Context(), d, s, at, "clone"); err != nil {
		t.Fatal(err)
	}
	overwriteNew(t, filepath.Join(to, "clone", "data"), "scribble")
	wantShelf(t, s)
}
