// Package stores opens the stores of a call: the store of this machine, the project's own if the shared one
// must not be changed, and the remote caches of the configuration below them. It handles records and blobs by
// their keys and digests, and does not know about nodes and freshness.
package stores

import (
	"errors"
	"fmt"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/user"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/plan"
)

// Store is a *cache.Disk, or a *cache.Layered over others.
type Store interface {
	plan.Store
	graph.Locker
}

// Use describes a call's use of stores.
type Use struct {
	ReadOnly bool // nothing is stored or sent
	MakeKey  bool // a missing key of records is created
	// Trust is the trust in the project. A remote cache is queried only with it.
	Trust *user.Trust
	// LookupEnv reads the credentials of remote caches, which are in no result.
	LookupEnv func(name string) (string, bool)
}

// Stores are the open stores of a call. The caller must close them. They are not safe for concurrent use, but
// the Store is.
type Stores struct {
	Store Store // all stores combined
	// IDs are the IDs of the stores of this machine: another ID means another store at the same path.
	IDs     []string
	options *options.Options
	use     Use
	local   cache.Store   // part of Store on this machine; nil without remote caches
	remotes []remoteCache // in reading order
}

// Open opens the stores of a configuration. An error is an *exit.Error.
func Open(o *options.Options, cfg *lang.Config, use Use) (*Stores, error) {
	dir, err := o.CacheDir(cfg)
	if err != nil {
		return nil, err
	}
	signer, err := o.RecordKey(use.MakeKey)
	if err != nil {
		return nil, err
	}
	s := &Stores{options: o, use: use}
	if err := s.open(dir, cfg, signer); err != nil {
		var denied *cache.NotWritableError
		if errors.As(err, &denied) {
			return nil, exit.With(exit.Usage, fmt.Errorf("%w; set FEVALGRAPH_CACHE_DIR to a directory that is, or use --cache local:r", err))
		}
		if coded := (*exit.Error)(nil); errors.As(err, &coded) {
			return nil, err
		}
		return nil, exit.With(exit.NotJudged, err)
	}
	return s, nil
}

// open opens the shared store, and the remote caches behind it. A call that executes but must not change the
// shared store writes to the project's own directory.
func (s *Stores) open(dir string, cfg *lang.Config, signer cache.RecordKey) error {
	reads, readOnly := s.use.ReadOnly, s.options.StoreReadOnly
	disk, err := cache.OpenDisk(dir, cache.Options{ReadOnly: reads || readOnly, Signer: signer})
	if err != nil {
		return err
	}
	s.IDs = []string{disk.ID()}
	layers := &cache.Layered{Upper: disk}
	if readOnly {
		own, err := cache.OpenDisk(options.OwnStoreDir(s.options.StateDirOf(cfg.Root)), cache.Options{ReadOnly: reads, Signer: signer})
		if err != nil {
			return err
		}
		s.IDs = append(s.IDs, own.ID())
		layers = &cache.Layered{Upper: own, Lower: []cache.Lower{disk}}
	}
	if err := s.openRemotes(layers, cfg); err != nil {
		return err
	}
	if s.Store = layers; len(layers.Lower) == 0 {
		s.Store = disk
	}
	return nil
}

// Past opens the results of all runs of a project: in the shared store, in the project's own for runs that
// could not write there, and from remote caches. The caller must close it.
func Past(o *options.Options) (_ cache.Store, end func(), err error) {
	cfg := o.Configured()
	dir, err := o.CacheDir(cfg)
	if err != nil {
		return nil, nil, err
	}
	signer, err := o.RecordKey(false)
	if err != nil {
		return nil, nil, err
	}
	shared, err := cache.OpenDisk(dir, cache.Options{ReadOnly: true, Signer: signer})
	if err != nil {
		return nil, nil, exit.With(exit.NotJudged, err)
	}
	own, err := cache.OpenDisk(options.OwnStoreDir(o.StateDir()), cache.Options{ReadOnly: true, Signer: signer})
	if err != nil {
		return nil, nil, exit.With(exit.NotJudged, err)
	}
	layers := &cache.Layered{Upper: own, Lower: []cache.Lower{shared}}
	if cfg == nil {
		return layers, func() {}, nil
	}
	s := &Stores{options: o, use: Use{ReadOnly: true, Trust: o.OpenTrust(), LookupEnv: o.Getenv}}
	return layers, func() { s.Close() }, s.openRemotes(layers, cfg)
}

// Close ends transfers from and to remote caches.
func (s *Stores) Close() error {
	var errs []error
	for _, r := range s.remotes {
		errs = append(errs, r.Close())
	}
	s.remotes = nil
	return errors.Join(errs...)
}
