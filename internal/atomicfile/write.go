// Package atomicfile writes files atomically: readers see the whole old content or the whole new one, and a
// failed write keeps the old one.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// Write replaces the content of the file at path with the concatenation of parts. An existing file keeps its
// permissions, a new one gets mode before the umask, and a symlink is replaced.
//
// Write does not wait for the disk: after a loss of power within seconds, the file can be empty or torn. It is for
// files that save time and have a checksum.
func Write(path string, mode fs.FileMode, parts ...[]byte) error {
	return write(path, mode, func(w io.Writer) error {
		for _, part := range parts {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	}, (*os.File).Close)
}

// WriteDurable is like Write, but survives a loss of power: the file then has its old content or the new one.
func WriteDurable(path string, mode fs.FileMode, content []byte) error {
	return WriteFrom(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFrom is like WriteDurable, with the output of fill. If fill fails, the old content stays.
func WriteFrom(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	return write(path, mode, fill, func(f *os.File) error {
		return errors.Join(f.Sync(), f.Close())
	})
}

func write(path string, mode fs.FileMode, fill func(io.Writer) error, finish func(*os.File) error) error {
	next := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"-"+strconv.FormatUint(rand.Uint64(), 36))
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Mode().Perm() != mode {
		_ = f.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(fill(f), finish(f)); err == nil {
		err = replace(next, path)
	}
	if err != nil {
		os.Remove(next)
	}
	return err
}
