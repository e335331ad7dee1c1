//go:build !linux

package cache

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lookAt returns the state of a path, which ends with a NUL. A missing path has a state, too.
func lookAt(path []byte, follow bool) (pathState, error) {
	look := os.Lstat
	if follow {
		look = os.Stat
	}
	name := string(path[:len(path)-1])
	info, err := look(name)
	if isGone(err) {
		return pathState{absent: true}, nil
	}
	if err != nil {
		return pathState{}, err
	}
	return seenOf(name, info)
}

// seenOf returns the state in info of the file at path. If the platform does not report enough to
// recognize a change, the state cannot be recorded.
func seenOf(path string, info fs.FileInfo) (pathState, error) {
	state, ok := stateOf(path, info)
	if !ok {
		return pathState{}, &UnsettledError{Path: path}
	}
	return pathState{fileState: state, mode: uint32(info.Mode())}, nil
}

func isNotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func (s pathState) kind() uint32    { return s.mode & uint32(fs.ModeType) }
func (s pathState) regular() bool   { return s.kind() == 0 }
func (s pathState) directory() bool { return s.kind() == uint32(fs.ModeDir) }
