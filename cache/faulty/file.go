package faulty

import (
	"io/fs"
	"os"
	"syscall"
)

// file is an open file of a Disk.
type file struct {
	*os.File
	disk *Disk
}

func (f *file) Read(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.fault("read", f.Name(), syscall.EIO); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.fault("read", f.Name(), syscall.EIO); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

// Write writes only the beginning when it fails.
func (f *file) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	before := f.disk.dead
	err := f.disk.fault("write", f.Name(), syscall.EIO, syscall.ENOSPC)
	if err == nil {
		return f.File.Write(p)
	}
	if before { // nothing happens any more
		return 0, err
	}
	n, _ := f.File.Write(p[:f.disk.rng.IntN(len(p)+1)])
	return n, err
}

func (f *file) Chmod(mode fs.FileMode) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.fault("chmod", f.Name(), syscall.EIO); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f *file) Truncate(size int64) error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.fault("truncate", f.Name(), syscall.EIO); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *file) Sync() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if err := f.disk.fault("sync", f.Name(), syscall.EIO); err != nil {
		return err
	}
	fi, err := f.Stat()
	if err == nil {
		f.disk.young[f.Name()] = fi.Size() // no sync is waited for: tests are not about this machine's disk
	}
	return err
}

// Close always closes, even if it returns an error.
func (f *file) Close() error {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	err := f.disk.fault("close", f.Name(), syscall.EIO)
	if cerr := f.File.Close(); err == nil {
		err = cerr
	}
	return err
}
