package workspace

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// What a file system needs to have left for a command's failure to be its own. A
// smaller file system needs a hundredth of its size.
const (
	leastBytes  = 16 << 20
	leastInodes = 64
)

// room refuses a directory whose file system is full, or out of inodes.
func room(dir string) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return roomIn(dir, &fs)
}

func roomIn(dir string, fs *unix.Statfs_t) error {
	free := fs.Bavail
	if os.Geteuid() == 0 { // may use what is reserved
		free = fs.Bfree
	}
	size := uint64(fs.Bsize)
	if free*size < min(leastBytes, fs.Blocks*size/100) {
		return fmt.Errorf("no space is left on the file system of %s: free some, or set TMPDIR", dir)
	}
	if fs.Files > 0 && fs.Ffree < min(leastInodes, fs.Files/100) {
		return fmt.Errorf("no inodes are left on the file system of %s: remove files, or set TMPDIR", dir)
	}
	return nil
}
