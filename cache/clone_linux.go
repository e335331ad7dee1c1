package cache

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// cloneFile makes the empty file to have what from has, without copying it.
func cloneFile(to, from *os.File) error {
	err := unix.IoctlFileClone(int(to.Fd()), int(from.Fd()))
	switch {
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EXDEV), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOTTY), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("cloning %s: %w by these file systems", from.Name(), errors.ErrUnsupported)
	case err != nil:
		return fmt.Errorf("cloning %s: %w", from.Name(), os.NewSyscallError("ioctl FICLONE", err))
	}
	return nil
}
