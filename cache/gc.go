package cache

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"time"
)

// gcGrace protects what running work may rely on: anything put or used in the
// last hour, and as uses are noted only every touchInterval, that much more.
const gcGrace = time.Hour + touchInterval

// tempAge is how old a file in tmp must be to belong to nobody.
const tempAge = 24 * time.Hour

// GCOptions say what GC may remove. Whatever was put or used within the last
// hour and a half stays in any case.
type GCOptions struct {
	MaxBytes int64         // the store shrinks to this; < 0: no budget
	MaxAge   time.Duration // what was not used for longer goes; 0: no limit
	DryRun   bool          // report only
	Now      time.Time     // the time that ages are measured from; zero: the present
}

// GCReport counts what GC removed and what is left.
type GCReport struct {
	Blobs, Records int64 // removed
	Bytes          int64 // removed, temporary files included
	KeptBytes      int64 // of blobs and records that stay
	TempFiles      int64 // leftovers and unheld lock files removed
}

// GC removes the least recently used blobs and records until the store keeps
// to the options. A blob counts as used when any record that leads to it was;
// so a record always goes before its blobs. GC runs beside other processes:
// what they put or use meanwhile stays.
//
// Memory use is about 80 bytes for each blob and record.
func (d *Disk) GC(ctx context.Context, o GCOptions) (GCReport, error) {
	if d.readOnly && !o.DryRun {
		return GCReport{}, fmt.Errorf("collecting store %s: %w", d.dir, ErrReadOnly)
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	c := &collector{disk: d, options: o}
	for _, step := range []func(context.Context) error{c.findBlobs, c.findRecords, c.sweep, c.sweepTemp, c.sweepLocks} {
		if err := step(ctx); err != nil {
			return c.report, fmt.Errorf("collecting store %s: %w", d.dir, err)
		}
	}
	return c.report, nil
}

// gcItem is a blob or record as gc found it.
type gcItem struct {
	hash   [32]byte
	size   int64
	mtime  int64 // nanoseconds since 1970
	used   int64 // mtime, or later: of a record that leads to the blob
	walked int64 // as a tree: the use that was passed on to what it names
}

type collector struct {
	disk    *Disk
	options GCOptions
	blobs   []gcItem // in order of hash
	records []gcItem
	report  GCReport
}

func (c *collector) findBlobs(ctx context.Context) error {
	return c.disk.each(ctx, casDir, func(s stored) error {
		if !s.stray {
			c.blobs = append(c.blobs, newItem(s))
		}
		return nil
	})
}

func newItem(s stored) gcItem {
	t := s.info.ModTime().UnixNano()
	return gcItem{hash: s.hash, size: s.info.Size(), mtime: t, used: t, walked: math.MinInt64}
}

// findRecords lists the records and passes each one's use on to its blobs.
func (c *collector) findRecords(ctx context.Context) error {
	return c.disk.each(ctx, acDir, func(s stored) error {
		if s.stray {
			return nil
		}
		item := newItem(s)
		c.records = append(c.records, item)
		return c.passOn(ctx, item)
	})
}

// passOn notes the use of a record for every blob that it leads to. Records
// that cannot be read lead nowhere.
func (c *collector) passOn(ctx context.Context, record gcItem) error {
	r, err := c.disk.peekRecord(Key(record.hash))
	switch {
	case errors.Is(err, errBadRecord), errors.Is(err, errForeignRecord), errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	for _, o := range r.Outputs {
		if err := c.use(ctx, o.Digest, o.Tree, record.used); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) use(ctx context.Context, g Digest, tree bool, used int64) error {
	i, ok := slices.BinarySearchFunc(c.blobs, g.Hash, func(b gcItem, h [32]byte) int {
		return bytes.Compare(b.hash[:], h[:])
	})
	if !ok {
		return nil
	}
	b := &c.blobs[i]
	b.used = max(b.used, used)
	if !tree || b.walked >= used {
		return nil
	}
	b.walked = used
	d, err := c.disk.peekDirectory(ctx, g)
	if err != nil || d == nil {
		return err
	}
	for _, f := range d.files {
		if err := c.use(ctx, f.digest, false, used); err != nil {
			return err
		}
	}
	for _, sub := range d.dirs {
		if err := c.use(ctx, sub.digest, true, used); err != nil {
			return err
		}
	}
	return nil
}

// cutoff returns the time before whose last use everything goes. One time for
// blobs and records alike keeps every remaining record whole: its blobs were
// used no earlier than it was.
func (c *collector) cutoff() int64 {
	now := c.options.Now
	limit := now.Add(-gcGrace).UnixNano()
	cut := int64(math.MinInt64)
	if c.options.MaxAge > 0 {
		cut = now.Add(-c.options.MaxAge).UnixNano()
	}
	if c.options.MaxBytes >= 0 {
		type use struct{ used, size int64 }
		uses := make([]use, 0, len(c.blobs)+len(c.records))
		for _, items := range [][]gcItem{c.blobs, c.records} {
			for _, it := range items {
				uses = append(uses, use{it.used, it.size})
			}
		}
		slices.SortFunc(uses, func(a, b use) int { return cmp.Compare(b.used, a.used) })
		var kept int64
		for _, u := range uses {
			if kept += u.size; kept > c.options.MaxBytes {
				cut = max(cut, u.used+1)
				break
			}
		}
	}
	return min(cut, limit)
}

// sweep removes records, then blobs.
func (c *collector) sweep(ctx context.Context) error {
	cut := c.cutoff()
	for _, r := range c.records {
		if r.used >= cut {
			c.report.KeptBytes += r.size
			continue
		}
		gone, err := c.remove(ctx, acDir, r)
		if err != nil {
			return err
		}
		if gone {
			c.report.Records++
			c.report.Bytes += r.size
			continue
		}
		// Somebody used it since: what it leads to is wanted too.
		c.report.KeptBytes += r.size
		r.used = math.MaxInt64
		if err := c.passOn(ctx, r); err != nil {
			return err
		}
	}
	for _, b := range c.blobs {
		gone := false
		if b.used < cut {
			var err error
			if gone, err = c.remove(ctx, casDir, b); err != nil {
				return err
			}
		}
		if gone {
			c.report.Blobs++
			c.report.Bytes += b.size
		} else {
			c.report.KeptBytes += b.size
		}
	}
	return nil
}

// remove removes the item unless it was put again or used since it was found.
func (c *collector) remove(ctx context.Context, top string, it gcItem) (bool, error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	if c.options.DryRun {
		return true, nil
	}
	path := c.disk.shardPath(top, hex.EncodeToString(it.hash[:]))
	return c.disk.remove(path, func(fi fs.FileInfo) bool { return fi.ModTime().UnixNano() == it.mtime })
}

// sweepTemp removes what processes that were killed left in tmp.
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

// sweepLocks removes lock files that nobody holds.
func (c *collector) sweepLocks(ctx context.Context) error {
	return c.sweepDir(ctx, locksDir, func(path string, fi fs.FileInfo) (bool, error) {
		if fi.Name() == storeLock || c.options.DryRun || c.options.Now.Sub(fi.ModTime()) < tempAge {
			return false, nil
		}
		l, err := tryLockFile(path)
		if err != nil || l == nil {
			return false, err
		}
		l.release()
		return true, nil
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
			return err
		}
		if gone {
			c.report.TempFiles++
			c.report.Bytes += fi.Size()
		}
	}
	return nil
}
