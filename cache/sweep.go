package cache

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
)

// sweepBatch is how many files are removed under one lock: enough that the lock
// costs little, and few enough that nobody who wants it waits for long.
const sweepBatch = 32

// sweepRecords removes what nobody used since the cut. What somebody uses beside
// it stays, with all that it leads to.
func (c *collector) sweepRecords(ctx context.Context) error {
	err := c.eachFrame(ctx, func(f frame) error {
		if f.used < c.since || f.kind == blobKind {
			return nil
		}
		return c.reach.frame(f, always)
	})
	if err != nil {
		return err
	}
	return eachPart(ctx, func(ctx context.Context, part byte) error {
		b := batch{collector: c, removed: &c.records, stays: func(s stored) error { return c.passOn(s.hash, always) }}
		err := c.walk(ctx, acDir, part, func(s stored) error {
			if s.used() < c.cut {
				return b.add(s)
			}
			c.kept.Add(s.info.Size())
			if s.used() >= c.since {
				return b.stays(s)
			}
			return nil
		})
		return errors.Join(err, b.remove())
	})
}

func (c *collector) sweepBlobs(ctx context.Context) error {
	return eachPart(ctx, func(ctx context.Context, part byte) error {
		uses, err := lastUses(c.reach.uses, part)
		if err != nil {
			return err
		}
		b := batch{collector: c, removed: &c.blobs, stays: func(stored) error { return nil }}
		err = c.walk(ctx, casDir, part, func(s stored) error {
			if lastUse(uses, s) < c.cut {
				return b.add(s)
			}
			c.kept.Add(s.info.Size())
			return nil
		})
		return errors.Join(err, b.remove())
	})
}

// batch is a few files to remove at once.
type batch struct {
	collector *collector
	removed   interface{ Add(int64) int64 }
	stays     func(stored) error // of what was put again or used since it was found
	files     []stored
}

func (b *batch) add(s stored) error {
	if b.files = append(b.files, s); len(b.files) < sweepBatch {
		return nil
	}
	return b.remove()
}

// remove removes the files. One that was put again or used since it was found
// stays, and so does one that cannot be removed.
func (b *batch) remove() error {
	c := b.collector
	gone, err := c.removeAll(b.files)
	if err != nil {
		return err
	}
	for i, s := range b.files {
		if gone[i] {
			b.removed.Add(1)
			c.bytes.Add(s.info.Size())
			continue
		}
		c.kept.Add(s.info.Size())
		if err := b.stays(s); err != nil {
			return err
		}
	}
	b.files = b.files[:0]
	return nil
}

func (c *collector) removeAll(all []stored) (gone []bool, err error) {
	gone = make([]bool, len(all))
	if c.options.DryRun {
		for i := range gone {
			gone[i] = true
		}
		return gone, nil
	}
	if len(all) == 0 {
		return gone, nil
	}
	err = c.disk.alone(func() error {
		for i, s := range all {
			gone[i], err = c.disk.removeUnlocked(c.disk.path(filepath.FromSlash(s.name)), func(fi fs.FileInfo) bool { return fi.ModTime().UnixNano() == s.used() })
			if err != nil {
				c.unreadable.Add(1) // a bad sector, or somebody else's file
			}
		}
		return nil
	})
	return gone, err
}
