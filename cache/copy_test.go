package cache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// largeTree stores a tree with one file that copyBlob copies, old enough to be
// remembered.
func largeTree(t *testing.T, d *Disk) (root, content Digest) {
	t.Helper()
	content = putBytes(t, d, bytes.Repeat([]byte("content "), copySize/8+1))
	tree, err := BuildTree([]Entry{{Path: "large", Digest: content, Executable: true}})
	if err == nil {
		err = tree.Store(t.Context(), d)
	}
	if err != nil {
		t.Fatal(err)
	}
	stabilize(t, d.blobPath(content))
	return tree.Root, content
}

func placeLarge(t *testing.T, s Store, root Digest) (path string, err error) {
	t.Helper()
	dir := t.TempDir()
	return filepath.Join(dir, "large"), placeTree(t, s, root, dir)
}

// Writing to the first or a later copy affects neither the store nor the next copy.
func TestCopiesAreApart(t *testing.T) {
	d := openDisk(t)
	root, content := largeTree(t, d)
	for i := range 3 {
		if _, known := d.verified.Load(content); known != (i > 0) {
			t.Errorf("copy %d: the blob is known to be good: %v", i, known)
		}
		path, err := placeLarge(t, &Layered{Upper: openDisk(t), Lower: []Lower{d}}, root)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if fi := lstat(t, path); err != nil || SumBytes(b) != content || fi.Mode().Perm() != 0o755 {
			t.Errorf("copy %d has %d bytes, mode %v, %v", i, len(b), fi.Mode(), err)
		}
		if err := os.WriteFile(path, []byte("changed by a test"), 0); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := d.Verify(t.Context(), false, nil); err != nil || len(r.Corrupt) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
}

// A blob that was changed after it was verified is found out, also when it has the
// time and size that it had.
func TestCopyOfChangedBlob(t *testing.T) {
	d := openDisk(t)
	root, content := largeTree(t, d)
	if _, err := placeLarge(t, d, root); err != nil {
		t.Fatal(err)
	}
	path := d.blobPath(content)
	before := lstat(t, path)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[copySize/2] ^= 1
	err = errors.Join(os.Chmod(path, 0o644), os.WriteFile(path, b, 0), os.Chtimes(path, time.Time{}, before.ModTime()))
	if err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	if at, err := placeLarge(t, d, root); !errors.As(err, &corrupt) {
		t.Errorf("placed %s, %v; want a CorruptError", at, err)
	}
	var missing *MissingError
	if at, err := placeLarge(t, d, root); !errors.As(err, &missing) {
		t.Errorf("placed %s, %v; want a MissingError", at, err)
	}
}
