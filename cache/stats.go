package cache

import (
	"context"
	"fmt"
	"time"
)

// Stats counts what a store holds.
type Stats struct {
	Blobs, Records         int64
	BlobBytes, RecordBytes int64
	Oldest, Newest         time.Time // last uses; zero when the store is empty
}

// Stats looks at every file of the store, and reads the journals.
func (d *Disk) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	one := func(n, bytes *int64, size int64, used time.Time) {
		*n++
		*bytes += size
		if s.Oldest.IsZero() || used.Before(s.Oldest) {
			s.Oldest = used
		}
		if used.After(s.Newest) {
			s.Newest = used
		}
	}
	count := func(n, bytes *int64) func(stored) error {
		return func(f stored) error {
			if !f.stray {
				one(n, bytes, f.info.Size(), f.info.ModTime())
			}
			return nil
		}
	}
	err := d.each(ctx, casDir, count(&s.Blobs, &s.BlobBytes))
	if err == nil {
		err = d.each(ctx, acDir, count(&s.Records, &s.RecordBytes))
	}
	if err == nil {
		var unread []string
		unread, err = d.eachWithoutFile(func(_ string, f frame) error {
			if f.kind == recordKind {
				one(&s.Records, &s.RecordBytes, int64(len(f.content)), f.when())
			} else {
				one(&s.Blobs, &s.BlobBytes, int64(len(f.content)), f.when())
			}
			return context.Cause(ctx)
		})
		if len(unread) > 0 && err == nil {
			err = fmt.Errorf("%s cannot be read", d.journal.path(unread[0]))
		}
	}
	if err != nil {
		return Stats{}, fmt.Errorf("counting store %s: %w", d.dir, err)
	}
	return s, nil
}
