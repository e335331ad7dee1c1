package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/event"
)

// CleanRequest selects the files of a project to remove.
type CleanRequest struct {
	KeepRuns   int  // run records to keep, besides those that Prune keeps
	All        bool // remove the whole state directory
	Containers bool // remove containers and images from the daemons in use
	Clusters   bool // end clusters, also kept ones
	DryRun     bool // remove nothing, only count; without Containers, which only daemons know
}

// Cleaned counts what was removed.
type Cleaned struct {
	Containers []kind.RemovedContainers // from each reachable daemon, if requested
	Clusters   []string                 // ended clusters
	State      string                   // the state directory if it was removed
	Sessions   int                      // ended sessions of earlier runs
	Removed    int                      // run records
	Runs       int                      // run records before
}

// Clean ends the sessions of crashed runs and removes old run records, or more. It does not touch the shared
// store. Cleaned also counts removals before an error.
func Clean(ctx context.Context, o options.Options, r CleanRequest) (*Cleaned, error) {
	c, state := &Cleaned{}, o.StateDir()
	if err := options.CheckOwner(state); err != nil {
		return c, exit.With(exit.Usage, err)
	}
	if r.DryRun {
		return c, wouldClean(ctx, o, r, c)
	}
	reaped, err := backend.Reap(ctx, kind.SessionsDir(state), o.Reapers())
	if err != nil {
		return c, exit.With(exit.NotJudged, err)
	}
	ended, left := options.SumReaped(reaped)
	if len(left) > 0 { // All would lose their records
		return c, exit.With(exit.NotJudged, fmt.Errorf("ending leftover sessions: %w", errors.Join(left...)))
	}
	c.Sessions = ended
	if r.Containers {
		if err := cleanContainers(&o, ctx, c); err != nil {
			return c, exit.With(exit.NotJudged, err)
		}
	}
	if r.Clusters || r.All { // which would lose their records
		if err := cleanClusters(&o, ctx, c); err != nil {
			return c, exit.With(exit.NotJudged, err)
		}
	}
	if r.All {
		if err := os.RemoveAll(state); err != nil {
			return c, exit.With(exit.NotJudged, err)
		}
		c.State = state
		return c, nil
	}
	pruned, err := Prune(ctx, o, PruneRequest{Keep: r.KeepRuns})
	c.Removed, c.Runs = len(pruned.Removed), pruned.Runs
	return c, err
}

// wouldClean notes what Clean would remove.
func wouldClean(ctx context.Context, o options.Options, r CleanRequest, c *Cleaned) error {
	left, err := backend.Leftovers(kind.SessionsDir(o.StateDir()))
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	c.Sessions = len(left)
	if r.Clusters || r.All {
		clusters, err := Clusters(o)
		if err != nil {
			return err
		}
		for _, one := range clusters {
			if !one.Living {
				c.Clusters = append(c.Clusters, one.Name)
			}
		}
	}
	if r.All {
		c.State = o.StateDir()
		return nil
	}
	pruned, err := Prune(ctx, o, PruneRequest{Keep: r.KeepRuns, DryRun: true})
	c.Removed, c.Runs = len(pruned.Removed), pruned.Runs
	return err
}

// youngPartition is the age below which a run can be about to record an unused partition file.
const youngPartition = time.Hour

// sweepPartitions removes the partition files that neither the index, nor the last answers, nor any
// of the runs names.
func sweepPartitions(o *options.Options, runs []string, now time.Time, dryRun bool) (int64, error) {
	used := map[partition.Name]bool{}
	state, records := o.StateDir(), o.Records()
	place := o.Place(state, false)
	if i := partition.ReadIndex(state, place); i != nil {
		for _, part := range i.Parts {
			used[part.File] = true
		}
	}
	for _, f := range partition.ReadLast(state, place).Files {
		used[f.File] = true
	}
	for _, id := range runs {
		manifest, err := event.OpenRun(records, id).Claimed()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err // it can name any of them
		}
		for _, text := range manifest.Partitions {
			if name, err := partition.ParseName(text); err == nil {
				used[name] = true
			}
		}
	}
	return partition.StoreIn(state).Sweep(used, now.Add(-youngPartition), dryRun)
}

func cleanClusters(o *options.Options, ctx context.Context, c *Cleaned) error {
	there, err := Clusters(*o)
	if err != nil || len(there) == 0 {
		return err
	}
	// A server that was started for a query is listed like a run's.
	r, err := backend.OpenRegistry(kind.SessionsDir(o.StateDir()), event.NewRunID(time.Now(), uint16(rand.Uint32())))
	if err != nil {
		return err
	}
	site := o.BareSite()
	site.Registry = r
	r.Prove(site.Key)
	c.Clusters, err = o.EndClusters(ctx, site, true)
	return errors.Join(err, site.Close(), r.Close())
}

func cleanContainers(o *options.Options, ctx context.Context, c *Cleaned) error {
	site := o.BareSite()
	var errs []error
	for _, k := range o.Kinds {
		if k.Clean == nil {
			continue
		}
		removed, err := k.Clean(ctx, site)
		if removed != nil {
			c.Containers = append(c.Containers, *removed)
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, site.Close())...)
}
