package cache

import (
	"context"
	"io/fs"
)

// sweepBatch is the number of files removed under one lock: enough to amortize the lock, and few enough
// that other processes do not wait long for it.
const sweepBatch = 32

// sweepRecords removes the records that were last used before the LRU threshold. A record that another
// process stores or uses meanwhile stays, with all of its blobs.
func (c *collector) sweepRecords(ctx context.Context) error {
	return eachPart(ctx, func(ctx context.Context, part byte) error {
		err := c.sweep(ctx, c.all.records[part], func(w candidate) string { return c.disk.recordPath(w.hash) }, &c.records)
		if err != nil {
			return err
		}
		return c.walk(ctx, acDir, part, func(s storedFile) error {
			if s.lastUse() >= c.since {
				c.followRecord(s.hash, usedForever)
			}
			return nil
		})
	})
}

func (c *collector) sweepBlobs(ctx context.Context) error {
	return eachPart(ctx, func(ctx context.Context, part byte) error {
		return c.sweep(ctx, c.all.blobs[part], func(w candidate) string { return c.disk.blobPath(Digest{Hash: w.hash}) }, &c.blobs)
	})
}

// sweep removes files in a list that were last used before the LRU threshold, in batches.
func (c *collector) sweep(ctx context.Context, list []candidate, path func(candidate) string, removed interface{ Add(int64) int64 }) error {
	var batch []candidate
	flush := func() error {
		defer func() { batch = batch[:0] }()
		return c.removeAll(batch, path, removed)
	}
	for _, w := range list {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if w.used >= c.threshold {
			c.kept.Add(w.size)
			continue
		}
		if batch = append(batch, w); len(batch) == sweepBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// removeAll removes files. It skips files that were stored again or used since they were weighed, and
// files that cannot be removed.
func (c *collector) removeAll(list []candidate, path func(candidate) string, removed interface{ Add(int64) int64 }) error {
	if len(list) == 0 {
		return nil
	}
	sweep := func() error {
		for _, w := range list {
			gone := c.options.DryRun
			if !gone {
				var err error
				gone, err = c.disk.removeUnlocked(path(w), func(fi fs.FileInfo) bool { return fi.ModTime().UnixNano() <= w.used })
				if err != nil {
					c.unreadable.Add(1) // a bad sector, or another user's file
				}
			}
			if gone {
				removed.Add(1)
				c.bytes.Add(w.size)
			} else {
				c.kept.Add(w.size)
			}
		}
		return nil
	}
	if c.options.DryRun {
		return sweep()
	}
	return c.disk.lock.Exclusive(sweep)
}
