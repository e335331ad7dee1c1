package eval

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/cache/buildlog"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// store is a *cache.Disk, or a *cache.Layered over one that may not be changed.
type store interface {
	plan.Store
	graph.Locker
}

func (p *Project) openStore() error {
	dir, err := p.options.CacheDir(p.Config)
	if err != nil {
		return err
	}
	signer, err := p.options.RecordKey(p.access == Writing)
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
		own, err := cache.OpenDisk(options.OwnStoreDir(p.state), cache.Options{ReadOnly: reads, Signer: signer})
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
	if p.log, err = buildlog.OpenOf(path, addrs); options.IsDenied(err) {
		return exit.With(exit.Usage, options.HintStateDir(err))
	} else if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	if n := p.log.Dropped(); n > 0 {
		p.options.Note(options.LogDamaged{Dropped: n})
	}
	return nil
}
