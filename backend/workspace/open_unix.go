//go:build unix

package workspace

import (
	"os"
	"syscall"
)

// openFlags prevent blocking if the file has become a FIFO since it was
// examined, and do not follow symlinks.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOFOLLOW

// movable reports whether any user can move files in a directory.
func movable(dir os.FileInfo) bool {
	return dir.Mode().Perm()&0o002 != 0 && dir.Mode()&os.ModeSticky == 0
}

// isOwn reports whether a file belongs to the caller.
func isOwn(info os.FileInfo) bool {
	state, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(state.Uid) == os.Geteuid()
}

// overflowUser is the owner of files whose owner a user namespace lacks, such as the
// machine's root.
const overflowUser = 65534

// systems reports whether a file belongs to root or to a user outside of the namespace.
func systems(info os.FileInfo) bool {
	state, ok := info.Sys().(*syscall.Stat_t)
	return ok && (state.Uid == 0 || state.Uid == overflowUser)
}

// isOpen reports whether other users have any permission on a directory.
func isOpen(dir os.FileInfo) bool { return dir.Mode().Perm()&0o077 != 0 }
