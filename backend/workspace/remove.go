package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// IsBase reports whether a path in a registry can be the workspace id: a damaged entry must not remove the
// user's files.
func IsBase(base, id string) bool {
	return len(id) == idLength && filepath.IsAbs(base) && filepath.Base(base) == id
}

// Remove removes the workspace at base, even if programs removed permissions. A missing workspace is a
// success.
func Remove(base string) error {
	err := os.RemoveAll(base)
	if err == nil || !errors.Is(err, fs.ErrPermission) {
		return err
	}
	var failed error
	_ = filepath.WalkDir(base, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() { // by lstat: never through a symlink
			err = os.Chmod(name, 0o700)
		}
		if err != nil {
			failed = errors.Join(failed, err)
			return fs.SkipDir // the rest can still be removed
		}
		return nil
	})
	if err := os.RemoveAll(base); err != nil {
		return errors.Join(err, failed)
	}
	return nil
}
