package lockedfile

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// byteLocks are locks on bytes of a file. Two keys share a byte once in 2^63; then one waits for the other.
type byteLocks struct {
	mu   sync.Mutex
	file *os.File           // nil before the first lock
	held map[int64]struct{} // the kernel does not distinguish holders within one open file
}

// try locks the byte of a key; ok is false if another holder has it. The error is errors.ErrUnsupported if the
// file system does not support it.
func (l *byteLocks) try(path string, key [32]byte) (release func(), ok bool, err error) {
	at := int64(binary.BigEndian.Uint64(key[:]) >> 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, taken := l.held[at]; taken {
		return nil, false, nil
	}
	if err := l.open(path); err != nil {
		return nil, false, err
	}
	file := l.file
	err = setByte(file, at, unix.F_WRLCK)
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EACCES):
		return nil, false, nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
		return nil, false, errors.ErrUnsupported
	case err != nil:
		return nil, false, os.NewSyscallError("fcntl", err)
	}
	if l.held == nil {
		l.held = map[int64]struct{}{}
	}
	l.held[at] = struct{}{}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		_ = setByte(file, at, unix.F_UNLCK) // if it fails, the lock ends with the process
		delete(l.held, at)
	}, true, nil
}

// open opens the file at path, unless it is open and still exists.
func (l *byteLocks) open(path string) (err error) {
	if l.file != nil {
		if named, err := stillNamed(l.file, path); named || err != nil {
			return err
		}
	}
	l.file, err = openOrMake(path) // a removed file stays open for its locks
	return err
}

func (l *byteLocks) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := l.file
	l.file = nil
	if file == nil {
		return nil
	}
	return file.Close()
}

// setByte locks or unlocks a byte for the holder of the open file.
func setByte(file *os.File, at int64, kind int16) error {
	for {
		err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: at, Len: 1})
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
