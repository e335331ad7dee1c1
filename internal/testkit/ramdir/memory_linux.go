package ramdir

import "golang.org/x/sys/unix"

func fits(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Type == unix.TMPFS_MAGIC && fs.Flags&unix.ST_NOEXEC == 0 &&
		fs.Bavail*uint64(fs.Bsize) >= room
}
