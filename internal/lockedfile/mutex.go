package lockedfile

import (
	"errors"
	"os"
	"sync"
)

// Mutex is a lock that is held briefly and often, exclusively or shared. Its file stays open in between; the
// zero value with a Path is ready to use.
type Mutex struct {
	Path string

	exclusive struct {
		sync.Mutex
		file *os.File
	}
	shared struct {
		sync.Mutex
		file  *os.File
		users int
	}
}

// Exclusive calls fn while no other holder in this or another process has the lock, exclusively or shared.
func (m *Mutex) Exclusive(fn func() error) (err error) {
	e := &m.exclusive
	e.Lock()
	defer e.Unlock()
	if e.file, err = m.acquire(e.file, exclusive); err != nil {
		return err
	}
	defer func() {
		if unlockFile(e.file) != nil {
			e.file.Close() // also unlocks it
			e.file = nil
		}
	}()
	return fn()
}

// Shared calls fn while no holder has the lock exclusively. The first holder in this process takes the kernel's
// lock, and the last one releases it.
func (m *Mutex) Shared(fn func() error) error {
	if err := m.join(); err != nil {
		return err
	}
	defer m.leave()
	return fn()
}

func (m *Mutex) join() (err error) {
	s := &m.shared
	s.Lock()
	defer s.Unlock()
	if s.users == 0 {
		if s.file, err = m.acquire(s.file, shared); err != nil {
			return err
		}
	}
	s.users++
	return nil
}

func (m *Mutex) leave() {
	s := &m.shared
	s.Lock()
	defer s.Unlock()
	if s.users--; s.users == 0 && unlockFile(s.file) != nil {
		s.file.Close()
		s.file = nil
	}
}

// acquire locks f, or the file at the path if f is nil or another file. It returns the file, or nil after an
// error.
func (m *Mutex) acquire(f *os.File, how mode) (_ *os.File, err error) {
	for {
		if f == nil {
			if f, err = openOrMake(m.Path); err != nil {
				return nil, err
			}
		}
		named := false
		if _, err = lockFile(f, how, wait); err == nil {
			named, err = stillNamed(f, m.Path)
		}
		if named {
			return f, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		f = nil
	}
}

// Close closes the files. The lock must not be held; a later use opens them again.
func (m *Mutex) Close() error {
	m.exclusive.Lock()
	defer m.exclusive.Unlock()
	m.shared.Lock()
	defer m.shared.Unlock()
	files := []*os.File{m.exclusive.file, m.shared.file}
	m.exclusive.file, m.shared.file = nil, nil
	var failed error
	for _, f := range files {
		if f != nil {
			failed = errors.Join(failed, f.Close())
		}
	}
	return failed
}
