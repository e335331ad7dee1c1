package isolation

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Reports about a program: a byte, and its data.
const (
	saidStopped   = 's'
	saidContinued = 'c'
	saidEnded     = 'e' // and four bytes, a wait status
	saidFailed    = 'f' // and a failure in JSON: it was not started
	// Limits that other programs of the user had nearly reached when the program had ended.
	saidDescriptors = 'd'
	saidPipes       = 'p'
)

// failure is the reason why a program was not started.
type failure struct {
	Text  string
	Errno syscall.Errno // 0 means unknown
	// Program reports that the isolation was ready, and that the program itself
	// could not be started.
	Program bool
}

// status reads the reports about a program.
type status struct {
	mu   sync.Mutex
	file *os.File
	said []byte

	crowded error
}

// read reads the available reports without waiting for more.
func (s *status) read() {
	conn, err := s.file.SyscallConn()
	if err != nil {
		return
	}
	buffer := make([]byte, 512)
	_ = conn.Read(func(fd uintptr) bool {
		for {
			n, err := unix.Read(int(fd), buffer)
			if err == nil && n > 0 {
				s.said = append(s.said, buffer[:n]...)
			} else if !errors.Is(err, unix.EINTR) {
				return true
			}
		}
	})
}

func (s *status) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	return len(s.said) > 0 && s.said[len(s.said)-1] == saidStopped
}

func (s *status) ending() (ended syscall.WaitStatus, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read()
	said := s.said
	for len(said) > 0 && (said[0] == saidStopped || said[0] == saidContinued) {
		said = said[1:]
	}
	said, s.crowded = crowdedIn(said)
	switch {
	case len(said) == 0:
		return 0, false, nil
	case said[0] == saidEnded && len(said) == 5:
		return syscall.WaitStatus(binary.NativeEndian.Uint32(said[1:])), true, nil
	case said[0] == saidFailed:
		var f failure
		if err := json.Unmarshal(said[1:], &f); err != nil {
			return 0, false, fmt.Errorf("isolating a program: %w", err)
		}
		return 0, false, f.error()
	}
	return 0, false, fmt.Errorf("isolating a program: %d unexpected bytes of status", len(said))
}

// crowdedIn returns the error of what crowded reported, and the reports after it.
func crowdedIn(said []byte) (rest []byte, err error) {
	for ; len(said) > 0; said = said[1:] {
		switch said[0] {
		case saidDescriptors:
			err = errors.New("messages between sockets hold as many descriptors as programs of the user can send")
		case saidPipes:
			err = errors.New("pipes have as many pages as those of the user can have; raise fs.pipe-user-pages-soft")
		default:
			return said, err
		}
	}
	return said, err
}

func (f failure) error() error {
	var err error = f.Errno
	switch {
	case f.Errno == 0:
		err = errors.New(f.Text)
	case f.Text != "":
		err = fmt.Errorf("%s: %w", f.Text, f.Errno)
	}
	if f.Program {
		return &StartError{Err: err}
	}
	return fmt.Errorf("isolating a program: %w", err)
}
