package ramdir

import "golang.org/x/sys/unix"

func inMemory(fs *unix.Statfs_t) bool {
	return fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.ST_NOEXEC == 0
}
