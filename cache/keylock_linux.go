package cache

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// keyLocks are the keys that this store holds, each a byte of one file that is
// never written: a file for each lock would be made and removed for each piece
// of work, and file systems do not use what was just removed again for a while
// but search past it. The kernel lets go of the bytes when the process ends.
//
// Two keys share a byte once in 2^63. Then one waits for the other.
type keyLocks struct {
	mu   sync.Mutex
	file *os.File           // nil until the first lock
	held map[int64]struct{} // the kernel does not keep the holders of one open file apart
}

// try locks the byte of k in the file at path; ok is false when another has it.
// errors.ErrUnsupported is that of a file system that cannot.
func (l *keyLocks) try(path string, k Key) (release func(), ok bool, err error) {
	at := int64(binary.BigEndian.Uint64(k[:]) >> 1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, taken := l.held[at]; taken {
		return nil, false, nil
	}
	if l.file, err = stillNamed(l.file, path); err != nil {
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
		_ = setByte(file, at, unix.F_UNLCK) // what cannot be unlocked goes with the process
		delete(l.held, at)
	}, true, nil
}

func (l *keyLocks) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	file := l.file
	l.file = nil
	return closeFile(file)
}

// setByte locks or unlocks a byte for whoever has the file open as file.
func setByte(file *os.File, at int64, kind int16) error {
	for {
		err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Start: at, Len: 1})
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
