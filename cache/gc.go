package cache

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// UseInterval is how long a caller can rely on a noted use of a blob before noting another. It is above
// touchInterval, so that noting always updates the time.
const UseInterval = time.Hour

// gcGrace protects files that running work can rely on: those stored or used in the last hour, plus
// UseInterval, since uses are noted only that often.
const gcGrace = time.Hour + UseInterval

// clockSkew is the maximum difference between the clocks of a store's users.
const clockSkew = 10 * time.Minute

// GCOptions specifies what GC removes. Files that were stored or used within the last two hours always
// stay.
type GCOptions struct {
	MaxBytes int64         // target size of the store; negative means no limit
	MaxAge   time.Duration // maximum time since the last use; 0 means no limit
	DryRun   bool          // report only
	Now      time.Time     // time that ages are measured from; zero means the present
}

// GCReport counts what GC removed and what is left.
type GCReport struct {
	Blobs, Records int64 // removed
	Bytes          int64 // removed, temporary files included
	KeptBytes      int64 // of blobs and records that stay
	TempFiles      int64 // removed temporary and unheld lock files
	Unreadable     int64 // unreadable records and shards
}

// GC removes the least recently used blobs and records until the store meets the options. The use of a
// record counts as a use of its blobs, so a record is always removed before its blobs. Other processes can
// use the store concurrently: files that they store or use meanwhile stay. Files that cannot be read or
// removed are skipped.
//
// It uses about 64 bytes of memory for each blob and record, and as much again for garbage of the Go
// runtime.
func (d *Disk) GC(ctx context.Context, o GCOptions) (GCReport, error) {
	if d.readOnly && !o.DryRun {
		return GCReport{}, fmt.Errorf("collecting store %s: %w", d.dir, ErrReadOnly)
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	c := &collector{disk: d, options: o, since: time.Now().Add(-clockSkew).UnixNano(), trees: map[[32]byte]int64{}}
	for _, step := range []func(context.Context) error{
		c.weigh, c.followRecords, c.followTrees, c.decide, c.sweepRecords, c.followTrees, c.sweepBlobs, c.sweepTemp, c.sweepLocks,
	} {
		if err := step(ctx); err != nil {
			return c.report(), fmt.Errorf("collecting store %s: %w", d.dir, err)
		}
	}
	return c.report(), nil
}

type collector struct {
	disk      *Disk
	options   GCOptions
	since     int64 // a file used later can be in use by a concurrent process
	threshold int64 // LRU: files last used before this time are removed

	all   struct{ blobs, records [shardCount][]candidate } // by the first byte of the hash, sorted
	mu    sync.Mutex
	trees map[[32]byte]int64 // directories that followTrees has not read yet, with their uses

	blobs, records, bytes, kept, tempFiles, unreadable atomic.Int64
}

// candidate is a blob or a record, with its state at the beginning of gc.
type candidate struct {
	hash       [32]byte
	used, size int64 // used is the last use; for a blob, including uses of its records
}

func (c *collector) report() GCReport {
	return GCReport{Blobs: c.blobs.Load(), Records: c.records.Load(), Bytes: c.bytes.Load(), KeptBytes: c.kept.Load(),
		TempFiles: c.tempFiles.Load(), Unreadable: c.unreadable.Load()}
}

// walk calls fn for the blobs or records of a shard. It counts and skips unreadable shards.
func (c *collector) walk(ctx context.Context, top string, part byte, fn func(storedFile) error) error {
	var failed error
	err := c.disk.shard(ctx, top, shardOf(part), func(s storedFile) error {
		if !s.stray {
			failed = fn(s)
		}
		return failed
	})
	if err != nil && failed == nil && context.Cause(ctx) == nil {
		c.unreadable.Add(1)
		return nil
	}
	return err
}

// weigh lists all blobs and records.
func (c *collector) weigh(ctx context.Context) error {
	list := func(ctx context.Context, top string, part byte, into *[]candidate) error {
		return c.walk(ctx, top, part, func(s storedFile) error {
			*into = append(*into, candidate{hash: s.hash, used: s.lastUse(), size: s.info.Size()})
			return nil
		})
	}
	return eachPart(ctx, func(ctx context.Context, part byte) error {
		return errors.Join(list(ctx, casDir, part, &c.all.blobs[part]), list(ctx, acDir, part, &c.all.records[part]))
	})
}

// followRecords passes each record's use on to its outputs.
func (c *collector) followRecords(ctx context.Context) error {
	return eachPart(ctx, func(ctx context.Context, part byte) error {
		for _, r := range c.all.records[part] {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			c.followRecord(r.hash, r.used)
		}
		return nil
	})
}

// usedForever is the last use of files that must stay.
const usedForever = math.MaxInt64

// followRecord passes a use of a record on to its outputs. It ignores unreadable records.
func (c *collector) followRecord(key [32]byte, used int64) {
	rec, err := c.disk.peekRecord(Key(key))
	if err != nil {
		// Damaged, of another version, or missing: not an answer, so not counted.
		if !errors.Is(err, errBadRecord) && !errors.Is(err, errOtherVersion) && !errors.Is(err, fs.ErrNotExist) {
			c.unreadable.Add(1)
		}
		return
	}
	for _, o := range rec.Outputs {
		c.use(o.Digest.Hash, o.Tree, used)
	}
}

// use notes a use of a blob. If it is a tree, followTrees will read it.
func (c *collector) use(hash [32]byte, tree bool, used int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	part := c.all.blobs[hash[0]]
	if i, ok := slices.BinarySearchFunc(part, hash, func(w candidate, hash [32]byte) int { return bytes.Compare(w.hash[:], hash[:]) }); ok {
		part[i].used = max(part[i].used, used)
	}
	if last, ok := c.trees[hash]; tree && (!ok || used > last) {
		c.trees[hash] = used
	}
}

// followTrees passes uses on from directories to their entries, level by level, so that a directory that
// many trees share is read once per level.
func (c *collector) followTrees(ctx context.Context) error {
	for len(c.trees) > 0 {
		level := c.trees
		c.trees = map[[32]byte]int64{}
		for hash, used := range level {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			d, err := c.disk.peekDirectory(hash)
			if err != nil || d == nil {
				continue // unreadable directories are ignored
			}
			for _, f := range d.files {
				c.use(f.digest.Hash, false, used)
			}
			for _, sub := range d.dirs {
				c.use(sub.digest.Hash, true, used)
			}
		}
	}
	return nil
}

// decide determines the threshold: files last used before it are removed. A common threshold for blobs and
// records keeps the blobs of all remaining records, since blobs were used no earlier than their record.
func (c *collector) decide(context.Context) error {
	c.threshold = math.MinInt64
	if c.options.MaxAge > 0 {
		c.threshold = c.options.Now.Add(-c.options.MaxAge).UnixNano()
	}
	if c.options.MaxBytes >= 0 {
		c.threshold = max(c.threshold, lruThreshold(c.uses(), c.options.MaxBytes))
	}
	c.threshold = min(c.threshold, c.options.Now.Add(-gcGrace).UnixNano())
	return nil
}

// use is the last use of a file, with its size.
type use struct{ used, size int64 }

// uses returns the uses of all blobs and records.
func (c *collector) uses() []use {
	n := 0
	for part := range shardCount {
		n += len(c.all.blobs[part]) + len(c.all.records[part])
	}
	all := make([]use, 0, n)
	for part := range shardCount {
		for _, list := range [][]candidate{c.all.blobs[part], c.all.records[part]} {
			for _, w := range list {
				all = append(all, use{w.used, w.size})
			}
		}
	}
	return all
}

// lruThreshold returns the earliest time such that files used then or later have at most room bytes in
// total, or the beginning of time if all files fit. It sorts all.
func lruThreshold(all []use, room int64) int64 {
	slices.SortFunc(all, func(a, b use) int { return cmp.Compare(b.used, a.used) })
	for _, u := range all {
		if room -= u.size; room < 0 {
			return u.used + 1
		}
	}
	return math.MinInt64
}
