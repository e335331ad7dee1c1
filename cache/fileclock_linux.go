package cache

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// stampIn returns the time with which a file that is created in a directory is stamped, and the identity of its file
// system. The file has no name, unless the file system does not support that and the directory is our own.
func stampIn(dir string, own bool) (stamp int64, dev uint64, ok bool) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil && own {
		return stampNamed(dir)
	}
	if err != nil {
		return 0, 0, false
	}
	f := os.NewFile(uintptr(fd), filepath.Join(dir, clockFile))
	defer f.Close()
	return stampOf(f, dir)
}
