//go:build !linux

package cache

import "errors"

// keyLocks are of use where locks belong to an open file.
type keyLocks struct{}

func (*keyLocks) try(string, Key) (release func(), ok bool, err error) {
	return nil, false, errors.ErrUnsupported
}

func (*keyLocks) close() error { return nil }
