package exhaustion

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// A file system with less room than this counts as full. For smaller file systems, it is a hundredth of their
// size.
const (
	leastBytes  = 16 << 20
	leastInodes = 64
)

// Room returns an error if the file system of a directory is full, or out of inodes.
func Room(dir string) error {
	fs, err := stateOf(dir)
	if err != nil {
		return err
	}
	return RoomIn(dir, fs)
}

// RoomToBegin returns an error if the file system of a directory has too little room to begin work there. Unlike
// Room, it requires the same of small file systems, which programs can fill between two calls of Room.
func RoomToBegin(dir string) error {
	fs, err := stateOf(dir)
	if err != nil {
		return err
	}
	return hasRoom(dir, fs, leastBytes, leastInodes)
}

// RoomIn is like Room, given the state of the file system.
func RoomIn(dir string, fs *unix.Statfs_t) error {
	return hasRoom(dir, fs, min(leastBytes, fs.Blocks*uint64(fs.Bsize)/100), min(leastInodes, fs.Files/100))
}

func stateOf(dir string) (*unix.Statfs_t, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return nil, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return &fs, nil
}

// hasRoom returns an error if fewer than the given bytes or inodes are free. A file system that counts no inodes has
// enough.
func hasRoom(dir string, fs *unix.Statfs_t, bytes, inodes uint64) error {
	free := fs.Bavail
	if os.Geteuid() == 0 { // root can use reserved blocks
		free = fs.Bfree
	}
	if free*uint64(fs.Bsize) < bytes {
		return &fullError{"no space is left on the file system of " + dir + ": free some, or set TMPDIR"}
	}
	if fs.Files > 0 && fs.Ffree < inodes {
		return &fullError{"no inodes are left on the file system of " + dir + ": remove files, or set TMPDIR"}
	}
	return nil
}

// fullError reports a full file system, and wraps the corresponding system error.
type fullError struct{ text string }

func (e *fullError) Error() string { return e.text }
func (e *fullError) Unwrap() error { return syscall.ENOSPC }
