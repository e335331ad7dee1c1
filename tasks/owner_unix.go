//go:build unix

package tasks

import (
	"io/fs"
	"syscall"
)

// ownerOf returns a file's owner and group.
func ownerOf(info fs.FileInfo) (uid, gid uint32, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return stat.Uid, stat.Gid, true
}
