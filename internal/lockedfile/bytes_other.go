//go:build !linux

package lockedfile

import "errors"

// byteLocks are of use where locks belong to an open file.
type byteLocks struct{}

func (*byteLocks) try(string, [32]byte) (release func(), ok bool, err error) {
	return nil, false, errors.ErrUnsupported
}

func (*byteLocks) close() error { return nil }
