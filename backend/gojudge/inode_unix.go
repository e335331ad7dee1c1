//go:build unix

package gojudge

import (
	"fmt"
	"io/fs"
	"syscall"
)

// inode identifies a file, so that another one at its path is noticed.
func inode(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%d:%d", st.Dev, st.Ino)
	}
	return ""
}
