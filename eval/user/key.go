package user

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// ReadGroupKey reads a group key: a file of any content of sufficient length. It rejects a file that every user
// can read.
func ReadGroupKey(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w (hint: make it with `head -c %d /dev/urandom >FILE`, and chmod 640)", err, KeySize)
	}
	switch {
	case !info.Mode().IsRegular() || info.Size() < KeySize || info.Size() > largestKey:
		return nil, fmt.Errorf("%s is not a key: it must be a file of %d to %d bytes", path, KeySize, largestKey)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0:
		return nil, fmt.Errorf("%s is readable by all users, so it proves nothing (hint: chmod 640)", path)
	}
	return os.ReadFile(path)
}

// Key returns the user's key in dir, which is in no project and no shared cache. With create, it creates a
// missing one.
func Key(dir string, create bool) ([]byte, error) {
	path := filepath.Join(dir, "key")
	for range 2 { // another process can create it in between
		key, err := os.ReadFile(path)
		switch {
		case err == nil && len(key) == KeySize:
			return key, nil
		case err == nil:
			return nil, fmt.Errorf("the user's key, %s, is damaged; remove it", path)
		case !create || !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("reading the user's key: %w", err)
		}
		if err := makeKey(dir, path); err != nil {
			return nil, fmt.Errorf("creating the user's key: %w", err)
		}
	}
	return nil, fmt.Errorf("the user's key, %s, is removed whenever it is created", path)
}

// Sizes in bytes.
const (
	KeySize    = 32
	largestKey = 4096
)

// makeKey creates a key atomically, unless it exists.
func makeKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, "new-*") // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	key := make([]byte, KeySize)
	rand.Read(key) // never fails
	_, err = file.Write(key)
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Link(file.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
