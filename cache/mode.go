package cache

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// privateMode is the mode of a created store directory: its content is accessible only to the user. The
// mode of an existing directory, such as 2770, determines who shares the store.
const privateMode = 0o700

// Shared reports whether a group, or every user, can write to the store.
func (d *Disk) Shared() bool { return d.mode&0o022 != 0 }

// makeRoot creates the store's directory, unless it exists, and reads its mode.
func (d *Disk) makeRoot() error {
	fi, err := os.Stat(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = d.files.MkdirAll(filepath.Dir(d.dir)); err == nil {
			err = d.files.Mkdir(d.dir, privateMode)
		}
		if err == nil {
			fi, err = os.Stat(d.dir)
		}
	}
	if err == nil {
		d.mode = fi.Mode() & (fs.ModePerm | fs.ModeSetgid)
	}
	return err
}

// makeDir creates a directory below the store's, unless it exists. The store might have been removed since
// it was opened.
func (d *Disk) makeDir(path string) error {
	err := d.makeOne(path)
	if errors.Is(err, fs.ErrNotExist) {
		if path == d.dir {
			err = d.makeRoot()
		} else if err = d.makeDir(filepath.Dir(path)); err == nil {
			err = d.makeOne(path)
		}
	}
	return err
}

// makeOne creates a directory. In a shared store it becomes visible with its final mode, so that other
// users never see a directory that only its creator can use.
func (d *Disk) makeOne(path string) error {
	if !d.Shared() || path == d.dir {
		return d.files.Mkdir(path, d.mode)
	}
	if fi, err := os.Stat(path); err == nil && fi.IsDir() {
		return nil
	}
	next := d.path(".new-" + strconv.FormatUint(rand.Uint64(), 36))
	if err := d.files.Mkdir(next, d.mode); err != nil {
		return err
	}
	err := os.Rename(next, path)
	if err != nil {
		_ = os.Remove(next)
		if fi, statErr := os.Stat(path); statErr == nil && fi.IsDir() {
			return nil // another process has created it
		}
	}
	return err
}
