package eval

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/buildlog"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// store is a *cache.Disk, or a *cache.Layered over one that may not be changed.
type store interface {
	plan.Store
	graph.Locker
}

// cacheDir is the store's directory, shared between projects. cfg is nil when there
// is no valid configuration.
func (o *Options) cacheDir(cfg *lang.Config) (string, error) {
	if dir, ok := o.lookupEnv("FEVALGRAPH_CACHE_DIR"); ok && dir != "" {
		return filepath.Abs(dir)
	}
	if cfg != nil && cfg.Settings.CacheDir != "" {
		return cfg.Settings.CacheDir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", exit.With(exit.Usage, fmt.Errorf("finding the cache directory: %w; set FEVALGRAPH_CACHE_DIR", err))
	}
	return filepath.Join(dir, "fevalgraph"), nil
}

func (p *Project) openStore() error {
	dir, err := p.options.cacheDir(p.Config)
	if err != nil {
		return err
	}
	signer, err := p.options.recordKey(p.access)
	if err != nil {
		return err
	}
	if p.store, err = p.openDisks(dir, signer); err != nil {
		var denied *cache.NotWritableError
		if errors.As(err, &denied) {
			return exit.With(exit.Usage, fmt.Errorf("%w; set FEVALGRAPH_CACHE_DIR to a directory that is, or use --cache local:r", err))
		}
		if coded := (*exit.Error)(nil); errors.As(err, &coded) {
			return err
		}
		return exit.With(exit.NotJudged, err)
	}
	return nil
}

// openDisks opens the shared store, and the remote caches behind it. A call that executes
// against a store that it may not change keeps what it makes in the project's own directory.
func (p *Project) openDisks(dir string, signer cache.RecordKey) (store, error) {
	reads, readOnly := p.access == Reading, p.options.StoreReadOnly
	disk, err := cache.OpenDisk(dir, cache.Options{ReadOnly: reads || readOnly, Signer: signer})
	if err != nil {
		return nil, err
	}
	layers := &cache.Layered{Upper: disk}
	if readOnly {
		own, err := cache.OpenDisk(ownStoreDir(p.state), cache.Options{ReadOnly: reads, Signer: signer})
		if err != nil {
			return nil, err
		}
		layers = &cache.Layered{Upper: own, Lower: []cache.Lower{disk}}
	}
	if err := p.openRemotes(layers); err != nil {
		return nil, err
	}
	if len(layers.Lower) == 0 {
		return disk, nil
	}
	return layers, nil
}

// ownStoreDir is where a project keeps what it may not store with the rest.
func ownStoreDir(state string) string { return filepath.Join(state, "store") }

// openLog opens the build log for the nodes that the engine decides about: with few of
// many, most of the log is not read.
func (p *Project) openLog() (err error) {
	path := filepath.Join(p.state, "buildlog")
	addrs := []string{}
	for id := range graph.ID(p.Plan.Graph.Len()) {
		if n := p.Plan.Graph.Node(id); n.Pinned == nil {
			addrs = append(addrs, n.Addr)
		}
	}
	if len(addrs) == p.Plan.Graph.Len() {
		addrs = nil // all of it
	}
	if p.log != nil { // of an earlier compilation
		if err := p.log.Close(); err != nil {
			return exit.With(exit.NotJudged, err)
		}
	}
	if p.access == Reading {
		if p.log, err = buildlog.ReadOf(path, addrs); err != nil {
			return exit.With(exit.NotJudged, err)
		}
		return nil
	}
	if p.log, err = buildlog.OpenOf(path, addrs); isDenied(err) {
		return exit.With(exit.Usage, elsewhere(err))
	} else if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	if n := p.log.Dropped(); n > 0 {
		p.options.notify(LogDamaged{n})
	}
	return nil
}

// isDenied reports whether a file could not be written for its place.
func isDenied(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// elsewhere adds the way out to an error about the state directory.
func elsewhere(err error) error {
	if !isDenied(err) {
		return err
	}
	return fmt.Errorf("%w; set FEVALGRAPH_DIR to a directory that can be written", err)
}

// configured returns the configuration when it loads, for its cache block; calls
// that need only the store do without one.
func (o *Options) configured() *lang.Config {
	cfg, diags := lang.Load(o.lang())
	if diags.HasErrors() {
		return nil
	}
	return cfg
}

// openShared opens the store that projects share.
func (o *Options) openShared(readOnly bool) (*cache.Disk, error) {
	dir, err := o.cacheDir(o.configured())
	if err != nil {
		return nil, err
	}
	disk, err := cache.OpenDisk(dir, cache.Options{ReadOnly: readOnly})
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	return disk, nil
}

// StoreStats is what the store holds, and what it spared the recorded runs of the
// project.
type StoreStats struct {
	cache.Stats
	Dir    string
	Served event.Served
}

// Stats counts what the store holds.
func Stats(ctx context.Context, o Options) (*StoreStats, error) {
	disk, err := o.openShared(true)
	if err != nil {
		return nil, err
	}
	s := &StoreStats{Dir: disk.Dir()}
	if s.Stats, err = disk.Stats(ctx); err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	if s.Served, err = event.ServedIn(o.StateDir()); err != nil {
		return nil, exit.With(exit.NotJudged, err)
	}
	return s, nil
}

// GCLimits say what garbage collection leaves.
type GCLimits struct {
	MaxBytes int64         // -1 is no limit
	MaxAge   time.Duration // since the last use; 0 is no limit
	DryRun   bool          // remove nothing
}

// GC removes the least recently used entries of the store until it meets the limits.
func GC(ctx context.Context, o Options, limits GCLimits) (cache.GCReport, error) {
	disk, err := o.openShared(limits.DryRun)
	if err != nil {
		return cache.GCReport{}, err
	}
	r, err := disk.GC(ctx, cache.GCOptions{MaxBytes: limits.MaxBytes, MaxAge: limits.MaxAge, DryRun: limits.DryRun, Now: time.Now()})
	if err != nil {
		return r, exit.With(exit.NotJudged, err)
	}
	return r, nil
}

// Verify checks every blob and record of the store; repair drops those that are
// damaged.
func Verify(ctx context.Context, o Options, repair bool) (cache.VerifyReport, error) {
	disk, err := o.openShared(!repair)
	if err != nil {
		return cache.VerifyReport{}, err
	}
	r, err := disk.Verify(ctx, repair, nil)
	if err != nil {
		return r, exit.With(exit.NotJudged, err)
	}
	return r, nil
}

// SignRecords makes the records of the store count as written by the user, and returns how
// many did not before.
func SignRecords(ctx context.Context, o Options) (int64, error) {
	secret, err := o.recordSecret(true)
	if err != nil {
		return 0, exit.With(exit.Usage, err)
	}
	signer, err := cache.NewRecordKey(secret)
	if err != nil {
		return 0, exit.With(exit.NotJudged, err)
	}
	dir, err := o.cacheDir(o.configured())
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
