package cache

import (
	"context"
	"fmt"
)

// storeLock is the lock file of publish and remove, in locksDir.
const storeLock = "store"

// Lock tries, without waiting, to get the exclusive right to do the work of k. It excludes other
// goroutines and other processes, and the kernel releases it when the process ends. ok is false if another
// holder has it. release can be called more than once.
func (d *Disk) Lock(ctx context.Context, k Key) (release func(), ok bool, err error) {
	if d.readOnly {
		return nil, false, ErrReadOnly
	}
	if err := context.Cause(ctx); err != nil {
		return nil, false, err
	}
	if release, ok, err = d.keys.Try(k); err != nil {
		return nil, false, fmt.Errorf("locking key %s: %w", k, err)
	}
	return release, ok, nil
}
