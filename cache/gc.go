package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync/atomic"
	"time"
)

// UseInterval is how old a noted use may be for who relies on a blob without
// noting that; above touchInterval, so that a use that is asked for makes it new.
const UseInterval = time.Hour

// gcGrace protects what running work may rely on: anything put or used in the
// last hour, and as uses may be noted only every UseInterval, that much more.
const gcGrace = time.Hour + UseInterval

// clockSkew is how much the clocks of those who use a store may differ.
const clockSkew = 10 * time.Minute

// GCOptions say what GC may remove. Whatever was put or used within the last
// two hours stays in any case.
type GCOptions struct {
	MaxBytes int64         // the store shrinks to this; < 0: no budget
	MaxAge   time.Duration // what was not used for longer goes; 0: no limit
	DryRun   bool          // report only
	Now      time.Time     // the time that ages are measured from; zero: the present
}

// GCReport counts what GC removed and what is left.
type GCReport struct {
	Blobs, Records int64 // removed
	Shelves        int64 // removed
	Bytes          int64 // removed, temporary files included
	KeptBytes      int64 // of blobs, records and shelves that stay
	TempFiles      int64 // leftovers and unheld lock files removed
	Unreadable     int64 // records, and whole shards, that the disk did not yield
}

// GC removes the least recently used blobs and records until the store keeps
// to the options. A blob counts as used when any record that leads to it was;
// so a record always goes before its blobs. GC runs beside other processes:
// what they put or use meanwhile stays. What cannot be read or removed is left
// where it is and keeps nothing else from going.
//
// A shelf goes, whatever the options say, when nobody uses it and nobody has used
// it for two hours.
//
// Memory use is some 30 MiB, and about a hundredth of what the names of all
// files take; the rest of what has to be remembered is in files without a name,
// in the store's tmp or, when that is full, in the system's.
func (d *Disk) GC(ctx context.Context, o GCOptions) (GCReport, error) {
	if d.readOnly && !o.DryRun {
		return GCReport{}, fmt.Errorf("collecting store %s: %w", d.dir, ErrReadOnly)
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	c := &collector{disk: d, options: o, since: time.Now().Add(-clockSkew).UnixNano(), reach: d.newReach(), weights: weights{d.newSpill()}}
	defer c.reach.close()
	defer c.weights.spill.close()
	for _, step := range []func(context.Context) error{
		c.settle, c.sweepShelves, c.findRecords, c.reach.follow, c.weighBlobs, c.decide, c.sweepRecords, c.reach.follow, c.sweepBlobs, c.sweepJournals, c.sweepTemp, c.sweepLocks,
	} {
		if err := step(ctx); err != nil {
			return c.report(), fmt.Errorf("collecting store %s: %w", d.dir, err)
		}
	}
	return c.report(), nil
}

type collector struct {
	disk    *Disk
	options GCOptions
	since   int64 // what was used later may be in use by somebody who runs beside
	reach   *reach
	weights weights
	cut     int64 // what was last used before it goes

	blobs, records, shelves, bytes, kept, tempFiles, unreadable atomic.Int64
}

func (c *collector) report() GCReport {
	return GCReport{Blobs: c.blobs.Load(), Records: c.records.Load(), Shelves: c.shelves.Load(), Bytes: c.bytes.Load(), KeptBytes: c.kept.Load(),
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

// findRecords weighs the records and passes each one's use on to its outputs.
func (c *collector) findRecords(ctx context.Context) error {
	err := c.eachFrame(ctx, func(f frame) error {
		return errors.Join(c.weights.add(f.hash, f.used, int64(len(f.content))), c.reach.frame(f, f.used))
	})
	if err != nil {
		return err
	}
	return eachPart(ctx, func(ctx context.Context, part byte) error {
		return c.walk(ctx, acDir, part, func(s stored) error {
			if err := c.weights.add(s.hash, s.used(), s.info.Size()); err != nil {
				return err
			}
			return c.passOn(s.hash, s.used())
		})
	})
}

func (c *collector) passOn(record [32]byte, used int64) error {
	readable, err := c.reach.record(Key(record), used)
	if !readable {
		c.unreadable.Add(1)
	}
	return err
}

// isUnread reports whether err says no more of a record than that it is not an
// answer: it is damaged, another version's, or gone.
func isUnread(err error) bool {
	return errors.Is(err, errBadRecord) || errors.Is(err, errForeignRecord) || errors.Is(err, fs.ErrNotExist)
}

func (c *collector) weighBlobs(ctx context.Context) error {
	return eachPart(ctx, func(ctx context.Context, part byte) error {
		uses, err := lastUses(c.reach.uses, part)
		if err != nil {
			return err
		}
		return c.walk(ctx, casDir, part, func(s stored) error {
			return c.weights.add(s.hash, lastUse(uses, s), s.info.Size())
		})
	})
}

// lastUse is when the blob was used, by itself or by way of a record.
func lastUse(uses map[[32]byte]int64, blob stored) int64 {
	if used, ok := uses[blob.hash]; ok {
		return max(used, blob.used())
	}
	return blob.used()
}

// decide finds the time before whose last use everything goes. One time for
// blobs and records alike keeps every remaining record whole: its blobs were
// used no earlier than it was.
func (c *collector) decide(context.Context) error {
	c.cut = math.MinInt64
	if c.options.MaxAge > 0 {
		c.cut = c.options.Now.Add(-c.options.MaxAge).UnixNano()
	}
	if c.options.MaxBytes >= 0 {
		cut, err := c.weights.cut(max(c.options.MaxBytes-c.kept.Load(), 0)) // only shelves are counted yet
		if err != nil {
			return err
		}
		c.cut = max(c.cut, cut)
	}
	c.cut = min(c.cut, c.options.Now.Add(-gcGrace).UnixNano())
	c.weights.spill.close()
	return nil
}
