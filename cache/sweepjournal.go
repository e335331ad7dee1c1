package cache

import (
	"context"
	"os"
)

// settle makes files of what is in journals, as only files can go one by one. A
// disk may be too full for that, which is where gc is needed most: what stays in
// journals is weighed there.
func (c *collector) settle(ctx context.Context) error {
	if c.options.DryRun {
		return nil
	}
	_, err := c.disk.settle(ctx, nil)
	return err
}

// eachFrame calls fn for all that is in journals still, or again. A journal that
// cannot be read is counted.
func (c *collector) eachFrame(ctx context.Context, fn func(frame) error) error {
	unread, err := c.disk.journal.each(func(_ string, f frame) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return fn(f)
	})
	c.unreadable.Add(int64(len(unread)))
	return err
}

// sweepJournals removes the journals of which nothing was used since the cut. Of
// the others, what was used is made files, for which there may be room now. The
// current one is not looked at: it has what was put since gc began.
func (c *collector) sweepJournals(ctx context.Context) error {
	names, err := c.disk.journal.sealedNames()
	if c.options.DryRun {
		names = append(names, currentJournal)
	}
	for _, name := range names {
		if err == nil {
			err = c.sweepJournal(ctx, name)
		}
	}
	return err
}

func (c *collector) sweepJournal(ctx context.Context, name string) error {
	var last [spillParts]map[ref]int64 // uses, by the first byte of the hash
	_, err := c.disk.journal.scan(name, func(f frame) error {
		part := &last[f.hash[0]]
		if *part == nil {
			*part = map[ref]int64{}
		}
		if used, ok := (*part)[f.ref]; !ok || f.used > used {
			(*part)[f.ref] = f.used
		}
		return context.Cause(ctx)
	})
	if err != nil {
		c.unreadable.Add(1)
		return context.Cause(ctx)
	}
	stays, err := c.survivors(last)
	if err != nil {
		return err
	}
	var blobs, records, bytes, kept int64
	_, err = c.disk.journal.scan(name, func(f frame) error {
		switch _, noFile := os.Lstat(c.disk.framePath(f.ref)); {
		case c.options.DryRun && noFile == nil: // counted already
		case stays[f.ref]:
			kept += int64(len(f.content))
			if c.options.DryRun {
				return nil
			}
			return c.disk.makeFile(f)
		case f.kind == recordKind:
			records++
			bytes += int64(len(f.content))
		default:
			blobs++
			bytes += int64(len(f.content))
		}
		return context.Cause(ctx)
	})
	if err == nil && !c.options.DryRun {
		err = c.disk.alone(func() error { return c.disk.journal.remove(name) })
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		c.unreadable.Add(1)
		c.kept.Add(kept + bytes)
		return nil
	}
	c.blobs.Add(blobs)
	c.records.Add(records)
	c.bytes.Add(bytes)
	c.kept.Add(kept)
	return c.disk.journal.closeAll()
}

// survivors are those that were used since the cut.
func (c *collector) survivors(last [spillParts]map[ref]int64) (map[ref]bool, error) {
	stays := map[ref]bool{}
	for part, refs := range last {
		if refs == nil {
			continue
		}
		uses, err := lastUses(c.reach.uses, byte(part))
		if err != nil {
			return nil, err
		}
		for r, used := range refs {
			if by, ok := uses[r.hash]; ok && r.kind == blobKind {
				used = max(used, by)
			}
			if used >= c.cut {
				stays[r] = true
			}
		}
	}
	return stays, nil
}
