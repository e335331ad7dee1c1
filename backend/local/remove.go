package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// removeAll removes a workspace, also when programs took away the permissions
// to. No process of the session is left to interfere.
func removeAll(base string) error {
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
			return fs.SkipDir // the rest may still come free
		}
		return nil
	})
	if err := os.RemoveAll(base); err != nil {
		return errors.Join(err, failed)
	}
	return nil
}
