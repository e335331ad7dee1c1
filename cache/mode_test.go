//go:build unix

package cache

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// All files in a store have the mode of its directory, and the directory that a store creates is private, regardless of
// the umask.
func TestModes(t *testing.T) {
	for name, try := range map[string]struct {
		made                  fs.FileMode // mode of the directory; 0 if missing
		dirs, content, locked fs.FileMode
	}{
		"new":        {0, 0o700, 0o400, 0o600},
		"private":    {0o700, 0o700, 0o400, 0o600},
		"readable":   {0o755, 0o755, 0o444, 0o600},
		"of a group": {0o770 | fs.ModeSetgid, 0o770 | fs.ModeSetgid, 0o440, 0o660},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "above", "store")
			if try.made != 0 {
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(dir, try.made); err != nil {
					t.Fatal(err)
				}
			}
			d, err := OpenDisk(dir, Options{})
			if err != nil {
				t.Fatal(err)
			}
			g := putBytes(t, d, []byte("content"))
			putBytes(t, d, make([]byte, 2*smallBlob))
			if err := d.PutRecord(t.Context(), Key{1}, &Record{Class: ClassDone, Outputs: []Output{{Name: "o", Digest: g}}}); err != nil {
				t.Fatal(err)
			}
			release, _, err := d.Lock(t.Context(), Key{1})
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := e.Info()
				if err != nil {
					return err
				}
				want := try.content
				switch {
				case e.IsDir():
					want = try.dirs | fs.ModeDir
				case filepath.Base(filepath.Dir(path)) == locksDir:
					want = try.locked
				}
				if info.Mode() != want {
					t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
			if got := d.Shared(); got != (name == "of a group") {
				t.Errorf("shared: %v", got)
			}
		})
	}
}
