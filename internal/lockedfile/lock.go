// Package lockedfile implements locks between processes: kernel locks on files, which the kernel releases when
// their holder ends, for whatever reason.
//
// A Lock is held for long and tried; a Mutex is locked briefly and often; Keys are many locks by name. All of them
// also exclude goroutines of the same process, and work if the lock file is removed: a lock counts only while its
// path still names the locked file.
package lockedfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Lock is a held exclusive lock.
type Lock struct{ file *os.File }

// waitPause is the time between attempts of Wait.
const waitPause = 50 * time.Millisecond

// Try locks the file at path without waiting, and creates it if needed. It returns nil if another holder has
// the lock.
func Try(path string) (*Lock, error) {
	return try(path, func() (*os.File, error) { return openOrMake(path) })
}

// TryExisting is like Try, but does not create the file: for a missing one, errors.Is(err, fs.ErrNotExist)
// holds.
func TryExisting(path string) (*Lock, error) {
	return try(path, func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|noFollow, 0) })
}

// Wait is like Try, but waits until the lock is free or ctx is done.
func Wait(ctx context.Context, path string) (*Lock, error) {
	for {
		l, err := Try(path)
		if l != nil || err != nil {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(waitPause):
		}
	}
}

func try(path string, open func() (*os.File, error)) (*Lock, error) {
	for {
		f, err := open()
		if err != nil {
			return nil, err
		}
		ok, err := lockFile(f, exclusive, noWait)
		if err != nil || !ok {
			return nil, errors.Join(err, f.Close())
		}
		named, err := stillNamed(f, path)
		if named {
			return &Lock{f}, nil
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// Close releases the lock and leaves the file.
func (l *Lock) Close() error { return l.file.Close() }

// Remove removes the file while the lock still protects its name, and releases
// the lock.
func (l *Lock) Remove() error {
	return errors.Join(os.Remove(l.file.Name()), l.file.Close())
}

// openOrMake opens a lock file. It creates the file and its directory if needed.
func openOrMake(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		if f, err = makeFile(path); err != nil {
			return nil, fmt.Errorf("creating a lock file: %w", err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("opening a lock file: %w", err)
	}
	return f, nil
}

// makeFile creates a lock file, unless another process did, and opens it. Its mode permits only its owner to
// open it, since opening it permits locking; in the directory of a group, also the group. The file appears with
// its mode, regardless of the umask.
func makeFile(path string) (*os.File, error) {
	const flag = os.O_RDWR | os.O_CREATE | noFollow
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		info, err = os.Stat(dir)
	}
	if err != nil {
		return nil, err
	}
	if info.Mode()&0o022 != 0o020 {
		return os.OpenFile(path, flag, 0o600)
	}
	next, err := os.CreateTemp(dir, ".lock-*")
	if err != nil {
		return nil, err
	}
	err = errors.Join(next.Chmod(0o660), next.Close())
	if err == nil {
		if err = os.Link(next.Name(), path); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err = errors.Join(err, os.Remove(next.Name())); err != nil {
		return nil, err
	}
	return openOrMake(path) // another process might have removed it in between
}

// stillNamed reports whether path still names the open file f: it can have been removed and replaced since.
func stillNamed(f *os.File, path string) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, there), err
}
