//go:build !linux

package lockedfile

import "errors"

// byteLocks is not supported: on these systems, locks on bytes belong to processes.
type byteLocks struct{}

func (*byteLocks) try(string, [32]byte) (release func(), ok bool, err error) {
	return nil, false, errors.ErrUnsupported
}

func (*byteLocks) close() error { return nil }
