package workspace

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fevalgraph/fevalgraph/internal/exhaustion"
)

// room refuses a directory whose file system is full, or out of inodes, unless there
// would be room without what the workspace itself takes: that is its own doing, and
// ends with it.
func room(dir string, own func() usage) error {
	if exhaustion.Room(dir) == nil {
		return nil
	}
	used := own()
	var now unix.Statfs_t // programs can have removed files meanwhile
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
