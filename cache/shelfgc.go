package cache

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// sweepShelves removes the shelves that nobody uses and nobody has used for as
// long as blobs are kept in any case: whoever needs one again pays for a copy.
// What stays counts towards the budget.
func (c *collector) sweepShelves(ctx context.Context) error {
	entries, err := readDir(c.disk.path(shelvesDir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := c.sweepShelf(ctx, e.Name()); err != nil {
			c.unreadable.Add(1)
		}
	}
	return nil
}

// sweepShelf does it for the shelves of a key.
func (c *collector) sweepShelf(ctx context.Context, name string) error {
	top := c.disk.path(shelvesDir, name)
	all, err := bytesBelow(top)
	if err != nil {
		return err
	}
	c.kept.Add(all)
	id, err := ParseKey(name)
	if err != nil {
		return c.sweepStrayShelf(top, all)
	}
	if !c.options.DryRun {
		release, free, err := c.disk.Lock(ctx, id)
		if err != nil || !free { // somebody is making one
			return err
		}
		defer release()
		defer os.Remove(top) // unless something is left
	}
	return c.disk.idleShelves(id, func(dir string, use *os.File) error {
		if use != nil {
			if fi, err := use.Stat(); err != nil || fi.ModTime().After(c.options.Now.Add(-gcGrace)) {
				return err
			}
		}
		size, err := bytesBelow(dir)
		if err == nil && !c.options.DryRun {
			err = discardShelf(dir)
		}
		if err != nil {
			return err
		}
		c.shelves.Add(1)
		c.bytes.Add(size)
		c.kept.Add(-size)
		return nil
	})
}

// sweepStrayShelf removes what somebody tried something with and who was killed.
func (c *collector) sweepStrayShelf(dir string, size int64) error {
	fi, err := os.Lstat(dir)
	if err != nil || c.options.DryRun || c.options.Now.Sub(fi.ModTime()) < tempAge {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	c.bytes.Add(size)
	c.kept.Add(-size)
	return nil
}

// bytesBelow is the size of all files below a directory from which some may go
// meanwhile.
func bytesBelow(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var fi fs.FileInfo
			if fi, err = e.Info(); err == nil {
				n += fi.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return n, err
}
