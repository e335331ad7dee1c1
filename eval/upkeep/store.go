package upkeep

import (
	"context"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/event"
)

// openShared opens the store that projects share.
func openShared(o *options.Options, readOnly bool) (*cache.Disk, error) {
	dir, err := o.CacheDir(o.Configured())
	if err != nil {
		return nil, err
	}
	disk, err := cache.OpenDisk(dir, cache.Options{ReadOnly: readOnly})
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return disk, nil
}

// StoreStats describes the content of the store, and counts the nodes that it served in the recorded runs of the project.
type StoreStats struct {
	cache.Stats
	Dir    string
	Served event.Served
}

// Stats counts the content of the store.
func Stats(ctx context.Context, o options.Options) (*StoreStats, error) {
	disk, err := openShared(&o, true)
	if err != nil {
		return nil, err
	}
	s := &StoreStats{Dir: disk.Dir()}
	if s.Stats, err = disk.Stats(ctx); err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	if s.Served, err = event.ServedIn(o.Records()); err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return s, nil
}

// GCLimits limits the content of the store after garbage collection.
type GCLimits struct {
	MaxBytes int64         // -1 means no limit
	MaxAge   time.Duration // since the last use; 0 means no limit
	DryRun   bool          // remove nothing
}

// GC removes the least recently used entries of the store until it meets the limits.
func GC(ctx context.Context, o options.Options, limits GCLimits) (cache.GCReport, error) {
	disk, err := openShared(&o, limits.DryRun)
	if err != nil {
		return cache.GCReport{}, err
	}
	r, err := disk.GC(ctx, cache.GCOptions{MaxBytes: limits.MaxBytes, MaxAge: limits.MaxAge, DryRun: limits.DryRun, Now: time.Now()})
	if err != nil {
		return r, exit.With(exit.NotJudged, err)
	}
	return r, nil
}

// Verify checks every blob and record of the store; repair drops damaged ones.
func Verify(ctx context.Context, o options.Options, repair bool) (cache.VerifyReport, error) {
	disk, err := openShared(&o, !repair)
	if err != nil {
		return cache.VerifyReport{}, err
	}
	r, err := disk.Verify(ctx, repair, nil)
	if err != nil {
		return r, exit.With(exit.NotJudged, err)
	}
	return r, nil
}

// SignRecords signs the records of the store as written by the user, and returns how many were not signed
// before.
func SignRecords(ctx context.Context, o options.Options) (int64, error) {
	secret, err := o.RecordSecret(true)
	if err != nil {
		return 0, exit.With(exit.Usage, err)
	}
	signer, err := cache.NewRecordKey(secret)
	if err != nil {
		return 0, exit.With(exit.NotJudged, err)
	}
	dir, err := o.CacheDir(o.Configured())
	if err != nil {
		return 0, err
	}
	disk, err := cache.OpenDisk(dir, cache.Options{Signer: signer})
	if err != nil {
		return 0, exit.With(exit.Usage, err)
	}
	n, err := disk.Sign(ctx)
	if err != nil {
		return n, exit.With(exit.NotJudged, err)
	}
	return n, nil
}
