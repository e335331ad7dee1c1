package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// shared is a kernel lock that many hold at once, as one for all of this
// process: the file stays open, and the first to come takes the lock that the
// last to go gives back.
type shared struct {
	mu    sync.Mutex
	file  *os.File // nil until the first use
	users int
}

// hold calls fn while the file at path is locked.
func (s *shared) hold(path string, fn func() error) error {
	if err := s.take(path); err != nil {
		return err
	}
	defer s.give()
	return fn()
}

func (s *shared) take(path string) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.users == 0 {
		if s.file, err = stillNamed(s.file, path); err != nil {
			return err
		}
		if err := setFlock(s.file, unix.LOCK_SH); err != nil {
			return err
		}
		if !unnamed(s.file) { // or else somebody removed it while we waited
			break
		}
	}
	s.users++
	return nil
}

func (s *shared) give() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	if setFlock(s.file, unix.LOCK_UN) != nil {
		s.file.Close() // that unlocks it, too
		s.file = nil
	}
}

func (s *shared) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	file := s.file
	s.file = nil
	return closeFile(file)
}

// exclusive is a kernel lock that one holds for moments, again and again: its file
// stays open. It is not safe for concurrent use.
type exclusive struct{ file *os.File }

// hold calls fn while nobody else holds the lock on the file at path.
func (e *exclusive) hold(path string, fn func() error) (err error) {
	for {
		if e.file == nil {
			if e.file, err = stillNamed(nil, path); err != nil {
				return err
			}
		}
		if err := setFlock(e.file, unix.LOCK_EX); err != nil {
			return err
		}
		if !unnamed(e.file) {
			break
		}
		e.file.Close() // somebody removed it
		e.file = nil
	}
	defer func() {
		if setFlock(e.file, unix.LOCK_UN) != nil {
			e.file.Close() // that unlocks it, too
			e.file = nil
		}
	}()
	return fn()
}

func (e *exclusive) close() error {
	file := e.file
	e.file = nil
	return closeFile(file)
}

// closeFile closes file if there is one.
func closeFile(file *os.File) error {
	if file == nil {
		return nil
	}
	return file.Close()
}

// holdAlone calls fn while nobody else, of this process or of another, holds the
// lock on the file at path.
func holdAlone(path string, fn func() error) error {
	for {
		file, err := stillNamed(nil, path)
		if err != nil {
			return err
		}
		err = setFlock(file, unix.LOCK_EX)
		if err == nil && unnamed(file) { // somebody removed it while we waited
			file.Close()
			continue
		}
		if err == nil {
			err = fn()
		}
		return errors.Join(err, file.Close())
	}
}

// setFlock waits for the lock.
func setFlock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return os.NewSyscallError("flock", err)
		}
	}
}

// stillNamed returns file, or the one that is at path now if file is nil or was
// removed. It is made if there is none.
func stillNamed(file *os.File, path string) (*os.File, error) {
	if file != nil && !unnamed(file) {
		return file, nil
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return nil, err
		}
		file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("opening a lock: %w", err)
	}
	return file, nil
}

// unnamed reports whether the file was removed.
func unnamed(file *os.File) bool {
	var state unix.Stat_t
	return unix.Fstat(int(file.Fd()), &state) != nil || state.Nlink == 0
}
