package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// The files of locks that stay.
const (
	storeLock = "store"
	keysLock  = "keys"
)

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
	release, ok, err = d.keys.try(d.path(locksDir, keysLock), k)
	if errors.Is(err, errors.ErrUnsupported) {
		var l *lockFile
		if l, err = tryLockFile(d.path(locksDir, k.String())); l != nil {
			release, ok = l.release, true
		}
	}
	if err != nil {
		return nil, false, fmt.Errorf("locking key %s: %w", k, err)
	}
	if !ok {
		return nil, false, nil
	}
	return sync.OnceFunc(release), true, nil
}

// sharing runs fn, which makes a file visible or notes a use of one, while no
// file is removed. What fn did is seen by whoever removes next, so nothing is
// removed on the strength of a state that is no longer true.
func (d *Disk) sharing(fn func() error) error { return d.shared.hold(d.path(locksDir, storeLock), fn) }

// alone runs fn, which removes a file after a last look at it.
func (d *Disk) alone(fn func() error) error { return holdAlone(d.path(locksDir, storeLock), fn) }
