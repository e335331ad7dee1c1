package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// replace is like os.Rename, but does not wait for the disk. If a file replaces another by rename, ext4
// allocates it at once, in case only it survives a crash. It does not if two files are exchanged.
func replace(from, to string) error {
	info, err := os.Lstat(to)
	if err != nil || !info.Mode().IsRegular() {
		return os.Rename(from, to)
	}
	if unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE) != nil {
		return os.Rename(from, to) // a file system may not know how
	}
	return os.Remove(from)
}
