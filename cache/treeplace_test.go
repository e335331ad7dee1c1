package cache

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// storeTree stores the entries; a file's content is its path.
func storeTree(t testing.TB, s Store, entries ...Entry) Digest {
	t.Helper()
	for i := range entries {
		if e := &entries[i]; !e.Dir && e.Link == "" {
			e.Digest = putBytes(t, s, []byte(e.Path))
		}
	}
	tree, err := BuildTree(entries)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Store(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return tree.Root
}

// placed describes what is below dir: mode and content or target.
func placed(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		got[rel] = fi.Mode().String()
		switch {
		case fi.Mode().IsRegular():
			b, err := os.ReadFile(path)
			got[rel] += " " + string(b)
			return err
		case fi.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			got[rel] = "-> " + target
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// placeTree places a tree at a path and creates its parents.
func placeTree(t *testing.T, s Store, root Digest, dst string) error {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
		t.Fatal(err)
	}
	at, err := os.OpenRoot(filepath.Dir(dst))
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	return PlaceTree(t.Context(), s, root, at, filepath.Base(dst))
}

func TestPlaceTree(t *testing.T) {
	d := openDisk(t)
	root := storeTree(t, d,
		Entry{Path: "bin/run", Executable: true},
		Entry{Path: "bin/data"},
		Entry{Path: "none", Dir: true},
		Entry{Path: "link", Link: "/nowhere"},
	)
	dst := filepath.Join(t.TempDir(), "new", "dst")
	want := map[string]string{
		".":        "drwxr-xr-x",
		"bin":      "drwxr-xr-x",
		"bin/run":  "-rwxr-xr-x bin/run",
		"bin/data": "-rw-r--r-- bin/data",
		"none":     "drwxr-xr-x",
		"link":     "-> /nowhere",
	}
	for range 2 { // a second time over the first
		if err := placeTree(t, d, root, dst); err != nil {
			t.Fatal(err)
		}
		if got := placed(t, dst); !equalMaps(got, want) {
			t.Errorf("placed %q\nwant %q", got, want)
		}
	}
	// Writes of a test do not reach the store.
	overwriteNew(t, filepath.Join(dst, "bin", "data"), "scribble")
	if b, err := ReadBlob(t.Context(), d, SumBytes([]byte("bin/data")), -1); err != nil || string(b) != "bin/data" {
		t.Errorf("the blob is %q, %v now", b, err)
	}
}

// The tree replaces anything that a submission left at its path, and targets of the submission's symlinks stay
// untouched.
func TestPlaceTreeOverHostileFiles(t *testing.T) {
	outside := t.TempDir()
	overwriteNew(t, filepath.Join(outside, "precious"), "precious")
	dst := filepath.Join(t.TempDir(), "dst")
	symlink := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(dst, name)); err != nil {
			t.Fatal(err)
		}
	}
	mkdir := func(name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dst, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mkdir("dir/full/of")
	overwriteNew(t, filepath.Join(dst, "dir/full/of/things"), "x")
	symlink(filepath.Join(outside, "precious"), "file")   // path of a file
	symlink(outside, "tests")                             // path of a directory
	symlink("dir", "inside")                              // it stays inside
	symlink(filepath.Join(outside, "absent"), "dangling") // one to nothing
	overwriteNew(t, filepath.Join(dst, "sub"), "a file at a directory's path")
	overwriteNew(t, filepath.Join(dst, "stays"), "stays")
	if err := os.Chmod(dst, 0o700); err != nil {
		t.Fatal(err)
	}

	s := NewMemory()
	root := storeTree(t, s,
		Entry{Path: "file"},
		Entry{Path: "tests/precious"},
		Entry{Path: "inside/new"},
		Entry{Path: "dangling"},
		Entry{Path: "sub/below"},
		Entry{Path: "dir"},
	)
	if err := placeTree(t, s, root, dst); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		".":              "drwxr-xr-x",
		"file":           "-rw-r--r-- file",
		"tests":          "drwxr-xr-x",
		"tests/precious": "-rw-r--r-- tests/precious",
		"inside":         "drwxr-xr-x",
		"inside/new":     "-rw-r--r-- inside/new",
		"dangling":       "-rw-r--r-- dangling",
		"sub":            "drwxr-xr-x",
		"sub/below":      "-rw-r--r-- sub/below",
		"dir":            "-rw-r--r-- dir",
		"stays":          "-rw-r--r-- stays",
	}
	if got := placed(t, dst); !equalMaps(got, want) {
		t.Errorf("placed %q\nwant %q", got, want)
	}
	if got := listing(t, outside); !equalMaps(got, map[string]string{"precious": "precious"}) {
		t.Errorf("outside: %q", got)
	}
}

func TestPlaceTreeAtSymlink(t *testing.T) {
	outside := t.TempDir()
	dst := filepath.Join(t.TempDir(), "dst")
	if err := os.Symlink(outside, dst); err != nil {
		t.Fatal(err)
	}
	s := NewMemory()
	if err := placeTree(t, s, storeTree(t, s, Entry{Path: "f"}), dst); err != nil {
		t.Fatal(err)
	}
	if got := listing(t, outside); len(got) != 0 {
		t.Errorf("outside: %q", got)
	}
	if got := listing(t, dst); got["f"] != "f" {
		t.Errorf("placed: %q", got)
	}
}

func TestPlaceTreeLeavesNoWrongFile(t *testing.T) {
	d := openDisk(t)
	root := storeTree(t, d, Entry{Path: "a"}, Entry{Path: "b"}, Entry{Path: "c"})
	overwrite(t, d.blobPath(SumBytes([]byte("b"))), []byte("B"))
	dst := t.TempDir()
	var corrupt *CorruptError
	if err := placeTree(t, d, root, dst); !errors.As(err, &corrupt) {
		t.Errorf("PlaceTree = %v; want a CorruptError", err)
	}
	if got := listing(t, dst); !equalMaps(got, map[string]string{"a": "a"}) {
		t.Errorf("placed: %q", got)
	}
	var missing *MissingError
	if err := placeTree(t, d, root, dst); !errors.As(err, &missing) {
		t.Errorf("PlaceTree again = %v; want a MissingError", err)
	}
}

// watchedReads calls read before each read of a blob.
type watchedReads struct {
	*Memory
	read func()
}

func (s watchedReads) Open(ctx context.Context, g Digest) (io.ReadCloser, error) {
	r, err := s.Memory.Open(ctx, g)
	return watchedReader{r, s.read}, err
}

type watchedReader struct {
	io.ReadCloser
	read func()
}

func (r watchedReader) Read(p []byte) (int, error) {
	r.read()
	return r.ReadCloser.Read(p)
}

// While a program is written, no process is started: it would have the file open, and the kernel
// would start the program for none.
func TestPlacedProgramsAreNotBusy(t *testing.T) {
	store := NewMemory()
	root := storeTree(t, store, Entry{Path: "program", Executable: true})
	reads, startable := 0, 0
	s := watchedReads{store, func() {
		reads++
		if syscall.ForkLock.TryLock() {
			syscall.ForkLock.Unlock()
			startable++
		}
	}}
	if err := placeTree(t, s, root, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	// Of the directory there are reads, too.
	if all := reads; all == 0 || startable == all {
		t.Errorf("processes could be started during %d of %d reads", startable, all)
	}
}
