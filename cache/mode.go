package cache

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// privateMode is that of a store's directory which is made here: its content is
// the user's alone. A directory that is there already says by its mode who shares
// the store, such as 2770.
const privateMode = 0o700

// Shared reports whether a group, or every user, can write to the store.
func (d *Disk) Shared() bool { return d.mode&0o022 != 0 }

// makeRoot makes the store's directory, unless it is there, and learns its mode.
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

// makeDir makes a directory below the store's, unless it is there. The store can have been
// removed since it was opened.
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

// makeOne makes a directory. In a shared store it appears with its mode, so that no other user meets a
// directory that only its maker can use.
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
			return nil // another process has made it
		}
	}
	return err
}
