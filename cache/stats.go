package cache

import (
	"context"
	"fmt"
	"time"
)

// Stats counts the content of a store.
type Stats struct {
	Blobs, Records         int64
	BlobBytes, RecordBytes int64
	Oldest, Newest         time.Time // last uses; zero when the store is empty
}

// Stats counts every file of the store.
func (d *Disk) Stats(ctx context.Context) (Stats, error) {
	var s Stats
	count := func(n, bytes *int64) func(storedFile) error {
		return func(f storedFile) error {
			if f.stray {
				return nil
			}
			*n++
			*bytes += f.info.Size()
			used := f.info.ModTime()
			if s.Oldest.IsZero() || used.Before(s.Oldest) {
				s.Oldest = used
			}
			if used.After(s.Newest) {
				s.Newest = used
			}
			return nil
		}
	}
	err := d.eachFile(ctx, casDir, count(&s.Blobs, &s.BlobBytes))
	if err == nil {
		err = d.eachFile(ctx, acDir, count(&s.Records, &s.RecordBytes))
	}
	if err != nil {
		return Stats{}, fmt.Errorf("counting store %s: %w", d.dir, err)
	}
	return s, nil
}
