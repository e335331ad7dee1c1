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

// UseInterval is the age up to which a caller can rely on a noted use of a blob without noting another. It
// is above touchInterval, so that a requested note makes the use new.
const UseInterval = time.Hour

// gcGrace protects what running work may rely on: anything put or used in the
// last hour, and as uses can be noted only every UseInterval, that much more.
const gcGrace = time.Hour + UseInterval

// clockSkew bounds the difference between the clocks of a store's users.
const clockSkew = 10 * time.Minute

// GCOptions specify what GC can remove. What was put or used within the last two
// hours always stays.
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
	Unreadable     int64 // records, and whole shards, that the disk did not yield
}

// GC removes the least recently used blobs and records until the store keeps
// to the options. A blob counts as used when any record that leads to it was;
// so a record always goes before its blobs. GC runs beside other processes:
// what they put or use meanwhile stays. What cannot be read or removed is left
// where it is and keeps nothing else from going.
//
// Memory use is about 64 bytes for each blob and record, and as much again for
// what the Go runtime has not collected yet.
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
	threshold int64 // LRU: what was last used before it goes

	all   struct{ blobs, records [shardCount][]weighed } // by the first byte of the hash, sorted
	mu    sync.Mutex
	trees map[[32]byte]int64 // directories that followTrees has not read yet, with their uses

	blobs, records, bytes, kept, tempFiles, unreadable atomic.Int64
}

// weighed is a blob or a record as gc found it.
type weighed struct {
	hash       [32]byte
	used, size int64 // used: the last use, of a blob also by way of a record
}

func (c *collector) report() GCReport {
	return GCReport{Blobs: c.blobs.Load(), Records: c.records.Load(), Bytes: c.bytes.Load(), KeptBytes: c.kept.Load(),
		TempFiles: c.tempFiles.Load(), Unreadable: c.unreadable.Load()}
}

// walk calls fn for the blobs or records of a shard. A shard that cannot be read
// is counted and left alone.
func (c *collector) walk(ctx context.Context, top string, part byte, fn func(stored) error) error {
	var failed error
	err := c.disk.shard(ctx, top, shardOf(part), func(s stored) error {
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
	list := func(ctx context.Context, top string, part byte, into *[]weighed) error {
		return c.walk(ctx, top, part, func(s stored) error {
			*into = append(*into, weighed{hash: s.hash, used: s.used(), size: s.info.Size()})
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

// always is the use of what must stay.
const always = math.MaxInt64

// followRecord passes a use of a record on to its outputs. A record that cannot
// be read leads nowhere.
func (c *collector) followRecord(key [32]byte, used int64) {
	rec, err := c.disk.peekRecord(Key(key))
	if err != nil {
		// Damaged, another version's, or gone: no answer, and nothing to count.
		if !errors.Is(err, errBadRecord) && !errors.Is(err, errOtherVersion) && !errors.Is(err, fs.ErrNotExist) {
			c.unreadable.Add(1)
		}
		return
	}
	for _, o := range rec.Outputs {
		c.use(o.Digest.Hash, o.Tree, used)
	}
}

// use notes a use of a blob, and of a tree that followTrees is to read.
func (c *collector) use(hash [32]byte, tree bool, used int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	part := c.all.blobs[hash[0]]
	if i, ok := slices.BinarySearchFunc(part, hash, func(w weighed, hash [32]byte) int { return bytes.Compare(w.hash[:], hash[:]) }); ok {
		part[i].used = max(part[i].used, used)
	}
	if last, ok := c.trees[hash]; tree && (!ok || used > last) {
		c.trees[hash] = used
	}
}

// followTrees passes uses on from directories to what is in them, level by level,
// so that a directory that many trees share is read once on each level.
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
				continue // what cannot be read leads nowhere
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

// decide finds the time before whose last use everything goes. One time for
// blobs and records alike keeps every remaining record whole: its blobs were
// used no earlier than it was.
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

// use is when something of some size was used last.
type use struct{ used, size int64 }

// uses returns the uses of all blobs and records.
func (c *collector) uses() []use {
	n := 0
	for part := range shardCount {
		n += len(c.all.blobs[part]) + len(c.all.records[part])
	}
	all := make([]use, 0, n)
	for part := range shardCount {
		for _, list := range [][]weighed{c.all.blobs[part], c.all.records[part]} {
			for _, w := range list {
				all = append(all, use{w.used, w.size})
			}
		}
	}
	return all
}

// lruThreshold returns the earliest time at which all that was used then or later
// has at most room bytes, or the beginning of time when all has. It sorts all.
func lruThreshold(all []use, room int64) int64 {
	slices.SortFunc(all, func(a, b use) int { return cmp.Compare(b.used, a.used) })
	for _, u := range all {
		if room -= u.size; room < 0 {
			return u.used + 1
		}
	}
	return math.MinInt64
}
