package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lockFile is a held lock whose file goes away with it.
type lockFile struct{ f *flock.Flock }

// tryLockFile locks the file at path; nil when another holds it. A holder
// removes the file before it unlocks, so whoever locked a file that is no
// longer the one at path holds nothing and starts again.
func tryLockFile(path string) (*lockFile, error) {
	for {
		f := flock.New(path)
		ok, err := f.TryLock()
		if errors.Is(err, fs.ErrNotExist) {
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil || !ok {
			return nil, err
		}
		held, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if visible, err := os.Lstat(path); err == nil && os.SameFile(held, visible) {
			return &lockFile{f}, nil
		}
		f.Close()
	}
}

// release removes the file while the lock still protects its name.
func (l *lockFile) release() {
	os.Remove(l.f.Path())
	l.f.Close()
}
