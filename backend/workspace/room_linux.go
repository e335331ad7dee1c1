package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// What a file system needs to have left for a command's failure to be its own. A
// smaller file system needs a hundredth of its size.
const (
	leastBytes  = 16 << 20
	leastInodes = 64
)

// room refuses a directory whose file system is full, or out of inodes, unless there
// would be room without what the workspace itself takes: that is its own doing, and
// ends with it.
func room(dir string, own func() usage) error {
	var now unix.Statfs_t
	if err := unix.Statfs(dir, &now); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return roomBeside(dir, now, own)
}

func roomBeside(dir string, now unix.Statfs_t, own func() usage) error {
	err := roomIn(dir, &now)
	if err == nil {
		return nil
	}
	used := own()
	now.Bfree += used.bytes / uint64(now.Bsize)
	now.Bavail += used.bytes / uint64(now.Bsize)
	now.Ffree += used.inodes
	if roomIn(dir, &now) == nil {
		return nil
	}
	return err
}

// occupied returns the bytes that a file takes on disk.
func occupied(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Blocks) * 512
	}
	return 0
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
