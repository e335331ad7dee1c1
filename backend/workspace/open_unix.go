//go:build unix

package workspace

import (
	"os"
	"syscall"
)

// openFlags do not block should the file have become a FIFO since it was looked at,
// and follow no symlink.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// ours reports whether a file belongs to the caller.
func ours(info os.FileInfo) bool {
	state, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(state.Uid) == os.Geteuid()
}
