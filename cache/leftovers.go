package cache

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/lockedfile"
)

// tempAge is the age from which no process uses a file in tmp.
const tempAge = 24 * time.Hour

// sweepTemp removes files that killed processes left in tmp.
func (c *collector) sweepTemp(ctx context.Context) error {
	return c.sweepDir(ctx, tmpDir, func(path string, fi fs.FileInfo) (bool, error) {
		if c.options.Now.Sub(fi.ModTime()) < tempAge {
			return false, nil
		}
		if c.options.DryRun {
			return true, nil
		}
		return true, c.disk.files.Remove(path)
	})
}

// sweepLocks removes lock files that no process holds.
func (c *collector) sweepLocks(ctx context.Context) error {
	return c.sweepDir(ctx, locksDir, func(path string, fi fs.FileInfo) (bool, error) {
		if fi.Name() == storeLock || fi.Name() == lockedfile.KeysFile || c.options.DryRun || c.options.Now.Sub(fi.ModTime()) < tempAge {
			return false, nil
		}
		l, err := lockedfile.TryExisting(path)
		if err != nil || l == nil {
			return false, err
		}
		return true, l.Remove()
	})
}

func (c *collector) sweepDir(ctx context.Context, name string, remove func(string, fs.FileInfo) (bool, error)) error {
	entries, err := readDir(c.disk.path(name))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil || !fi.Mode().IsRegular() {
			continue
		}
		gone, err := remove(filepath.Join(c.disk.path(name), e.Name()), fi)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			c.unreadable.Add(1)
			continue
		}
		if gone {
			c.tempFiles.Add(1)
			c.bytes.Add(fi.Size())
		}
	}
	return nil
}
