//go:build unix

package lockedfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

type mode int

const (
	exclusive mode = unix.LOCK_EX
	shared    mode = unix.LOCK_SH

	wait   = 0
	noWait = unix.LOCK_NB
)

// noFollow rejects links, whose path never names the locked file, and opens pipes without waiting for a writer.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// lockFile locks an open file; ok is false if another holder has it.
func lockFile(f *os.File, how mode, patience int) (ok bool, err error) {
	for {
		err := unix.Flock(int(f.Fd()), int(how)|patience)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, os.NewSyscallError("flock", err)
		}
	}
}

func unlockFile(f *os.File) error {
	return os.NewSyscallError("flock", unix.Flock(int(f.Fd()), unix.LOCK_UN))
}
