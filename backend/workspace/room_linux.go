package workspace

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// room returns an error if the file system is out of space or inodes, unless
// removing the workspace itself would free enough.
func room(dir string, own func() usage) error {
	if exhaustion.Room(dir) == nil {
		return nil
	}
	used := own()
	var now unix.Statfs_t // programs might have removed files meanwhile
	if err := unix.Statfs(dir, &now); err != nil {
		return &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return roomBeside(dir, now, used)
}

func roomBeside(dir string, now unix.Statfs_t, used usage) error {
	now.Bfree += used.bytes / uint64(now.Bsize)
	now.Bavail += used.bytes / uint64(now.Bsize)
	now.Ffree += used.inodes
	return exhaustion.RoomIn(dir, &now)
}

// occupied returns the bytes that a file takes on disk.
func occupied(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Blocks) * 512
	}
	return 0
}
