package lockedfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

type mode uint32

const (
	exclusive mode = windows.LOCKFILE_EXCLUSIVE_LOCK
	shared    mode = 0

	wait   = 0
	noWait = windows.LOCKFILE_FAIL_IMMEDIATELY
)

// noFollow is 0: links are rare on Windows.
const noFollow = 0

// lockedRange is a byte beyond any file, so that locks do not prevent reading.
func lockedRange() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// lockFile locks an open file; ok is false if another holder has it.
func lockFile(f *os.File, how mode, patience uint32) (ok bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), uint32(how)|patience, 0, 1, 0, lockedRange())
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	}
	return false, os.NewSyscallError("LockFileEx", err)
}

func unlockFile(f *os.File) error {
	return os.NewSyscallError("UnlockFileEx", windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedRange()))
}
