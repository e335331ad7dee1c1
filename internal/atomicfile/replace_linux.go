package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// replace is os.Rename but that it does not wait for the disk. When a file replaces
// another by that name, ext4 takes it for all that is left of both, and finds a
// place for all of it at once. Two files that change places are no such case.
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
