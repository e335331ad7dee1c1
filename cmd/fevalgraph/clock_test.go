//go:build unix

package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Times of files that are in the future, as after a clock was put back, prove
// nothing: the bytes decide.
func TestFutureTimes(t *testing.T) {
	t.Parallel()
	c := copyCheckout(t, filepath.Join("testdata", "project"), t.TempDir())
	future := time.Now().AddDate(1, 0, 0)
	for _, dir := range []string{"solutions", "tests", "assets"} {
		err := filepath.WalkDir(filepath.Join(c.dir, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			return os.Chtimes(path, future, future)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.mayFail("run")
	for _, edit := range []struct{ name, old, new string }{
		{"solutions/late/one/kv.py", "put", "pat"},
		{"tests/test_one.py", "import source", "import Source"}, // of every cell
	} {
		path := filepath.Join(c.dir, edit.name)
		content, err := os.ReadFile(path)
		if !bytes.Contains(content, []byte(edit.old)) {
			t.Fatalf("%q is not in %s, %v", edit.old, edit.name, err)
		}
		changed := bytes.ReplaceAll(content, []byte(edit.old), []byte(edit.new))
		put := func(content []byte) {
			t.Helper()
			if err := errors.Join(os.WriteFile(path, content, 0o644), os.Chtimes(path, future, future)); err != nil {
				t.Fatal(err)
			}
		}
		put(changed) // as long, and of the same time
		c.mayFail("run")
		if len(c.lastRun().executed) == 0 {
			t.Errorf("%s changed, but no node ran", edit.name)
		}
		put(content)
		c.mayFail("run")
		if len(c.lastRun().executed) > 0 {
			t.Errorf("%s is unchanged, but %q ran", edit.name, c.lastRun().executed)
		}
	}
}
