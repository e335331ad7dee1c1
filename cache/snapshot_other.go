//go:build !linux

package cache

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// lookAt returns the state of a path, which ends with a NUL. That nothing is
// there is a state, too. Where the platform does not tell enough to recognise a
// change, no state is like another.
func lookAt(path []byte, follow bool) (seen, error) {
	look := os.Lstat
	if follow {
		look = os.Stat
	}
	name := string(path[:len(path)-1])
	info, err := look(name)
	if isGone(err) {
		return seen{absent: true}, nil
	}
	if err != nil {
		return seen{}, err
	}
	s := seen{mode: uint32(info.Mode()), fileState: fileState{size: info.Size(), mtime: info.ModTime().UnixNano()}}
	if !s.addSystem(info.Sys()) {
		return seen{}, &UnsettledError{Path: name}
	}
	return s, nil
}

func isNotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func (s seen) kind() uint32    { return s.mode & uint32(fs.ModeType) }
func (s seen) regular() bool   { return s.kind() == 0 }
func (s seen) directory() bool { return s.kind() == uint32(fs.ModeDir) }
