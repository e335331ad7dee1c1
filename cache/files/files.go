// Package files defines the file operations with which the store reads and writes: few enough that a test
// can make each of them fail (cache/faulty). For names, states and locks, the store uses the system
// directly.
package files

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// System has methods like the functions of package os with the same names. It is safe for concurrent use.
// Errors are *fs.PathError or *os.LinkError, so that they match fs.ErrNotExist, syscall.ENOSPC and so on.
type System interface {
	OpenFile(path string, flag int, perm fs.FileMode) (File, error)
	Rename(from, to string) error
	Remove(path string) error
	// MkdirAll creates the directory and its parents, with all permissions that the umask allows.
	MkdirAll(path string) error
	// Mkdir creates the directory with a mode, regardless of the umask. An existing directory is a success.
	Mkdir(path string, mode fs.FileMode) error
	// Touch sets the modification time.
	Touch(path string, t time.Time) error
}

// File is an open *os.File, or behaves like one.
type File interface {
	io.ReadWriteCloser
	io.ReaderAt
	Name() string
	Stat() (fs.FileInfo, error)
	Chmod(mode fs.FileMode) error
	Truncate(size int64) error
	Sync() error
}

// OS is the System of this machine.
var OS System = system{}

type system struct{}

func (system) OpenFile(path string, flag int, perm fs.FileMode) (File, error) {
	f, err := os.OpenFile(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (system) Rename(from, to string) error { return os.Rename(from, to) }
func (system) Remove(path string) error     { return os.Remove(path) }
func (system) MkdirAll(path string) error   { return os.MkdirAll(path, 0o777) }
func (system) Mkdir(path string, mode fs.FileMode) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = os.Chmod(path, mode)
	}
	return err
}

func (system) Touch(path string, t time.Time) error { return os.Chtimes(path, time.Time{}, t) }

// Open opens the file for reading.
func Open(s System, path string) (File, error) { return s.OpenFile(path, os.O_RDONLY, 0) }

// ReadFile returns the content of the file.
func ReadFile(s System, path string) ([]byte, error) {
	f, err := Open(s, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var size int64
	if fi, err := f.Stat(); err == nil {
		size = fi.Size()
	}
	b := make([]byte, 0, size+1) // plus 1, to reach the end without growing the buffer
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// CreateTemp creates a file in dir, open for writing, whose name begins with what.
func CreateTemp(s System, dir, what string) (File, error) {
	for {
		name := filepath.Join(dir, what+"-"+strconv.FormatUint(rand.Uint64(), 36))
		f, err := s.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}
