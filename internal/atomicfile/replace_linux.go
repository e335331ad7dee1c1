package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// replace renames from to to without waiting for the disk. If a rename replaces a file, ext4 allocates the new
// file at once, so that it survives a crash. It does not if two files are exchanged.
func replace(from, to string) error {
	info, err := os.Lstat(to)
	if err != nil || !info.Mode().IsRegular() {
		return os.Rename(from, to)
	}
	if unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE) != nil {
		return os.Rename(from, to) // not every file system supports this
	}
	return os.Remove(from)
}
