//go:build unix

package gojudge

import (
	"fmt"
	"io/fs"
	"syscall"
)

// inode returns the inode of a file, so that a replaced file is noticed.
func inode(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	}
	return ""
}
