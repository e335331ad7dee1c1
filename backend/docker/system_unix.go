//go:build unix

package docker

import (
	"io/fs"
	"os"
	"os/signal"
	"syscall"
)

// notifyResize has the system tell of another size of the caller's terminal.
func notifyResize(c chan<- os.Signal) { signal.Notify(c, syscall.SIGWINCH) }

// ownedByRoot reports whether a file is root's; known is whether that can be told.
func ownedByRoot(info fs.FileInfo) (root, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	return known && stat.Uid == 0, known
}
