package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"
)

// storeLock is the one file of locks that stays.
const storeLock = "store"

// Lock tries, without waiting, to become the one that does the work of k. It
// excludes goroutines of this process and other processes alike, and the
// kernel lets go of it when the process ends. ok is false when another has
// it. release may be called more than once.
func (d *Disk) Lock(ctx context.Context, k Key) (release func(), ok bool, err error) {
	if d.readOnly {
		return nil, false, ErrReadOnly
	}
	if err := context.Cause(ctx); err != nil {
		return nil, false, err
	}
	l, err := tryLockFile(d.path(locksDir, k.String()))
	if err != nil {
		return nil, false, fmt.Errorf("locking key %s: %w", k, err)
	}
	if l == nil {
		return nil, false, nil
	}
	return sync.OnceFunc(l.release), true, nil
}

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

// sharing runs fn, which makes a file visible or notes a use of one, while no
// file is removed. What fn did is seen by whoever removes next, so nothing is
// removed on the strength of a state that is no longer true.
func (d *Disk) sharing(fn func() error) error { return d.locked((*flock.Flock).RLock, fn) }

// alone runs fn, which removes a file after a last look at it.
func (d *Disk) alone(fn func() error) error { return d.locked((*flock.Flock).Lock, fn) }

func (d *Disk) locked(lock func(*flock.Flock) error, fn func() error) error {
	path := d.path(locksDir, storeLock)
	f := flock.New(path)
	err := lock(f)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		err = lock(f)
	}
	if err != nil {
		return err
	}
	return errors.Join(fn(), f.Close())
}
