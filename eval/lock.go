package eval

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/fevalgraph/fevalgraph/eval/exit"
	"github.com/fevalgraph/fevalgraph/eval/options"
	"github.com/fevalgraph/fevalgraph/eval/validate"
	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang/diag"
	"github.com/fevalgraph/fevalgraph/tasks/requirements"
)

// LockFile is the name of the lock file for requirements.
const LockFile = requirements.FileName

// Locked describes the requirement sets of the lock file.
type Locked struct {
	Used, Resolved int
	Unused         int      // sets in the file that no problem requests now
	Dropped        []string // sets that were removed because no problem requests them now
	// Invalid lists the errors of invalid problems. If there are any, nothing is dropped: the requirements of
	// these problems are unknown.
	Invalid diag.List
}

// LockOptions configures Lock.
type LockOptions struct {
	Upgrade bool // resolve all requested sets again, to the newest versions
	Prune   bool // drop sets that are not requested with the current variables
	DryRun  bool // count what would be done, without changing the lock file
}

// Lock resolves requirements that the lock file lacks, and adds missing hashes without changing versions. It
// drops sets only with Prune, since other variables can request more.
func Lock(ctx context.Context, o Options, how LockOptions) (locked *Locked, err error) {
	access := Writing
	if how.Upgrade {
		access = renewing
	}
	p, err := Open(ctx, o, access)
	if err != nil {
		return nil, err
	}
	defer func() { err = p.call.closeAfter(err) }()
	p.call.locker.Rehash()
	if how.DryRun {
		ctx = requirements.AsItIs(ctx)
	} else if err := p.buildImages(ctx); err != nil {
		return nil, err
	}
	if err := p.Plan.LockAll(ctx); err != nil {
		if graph.IsInput(err) {
			return nil, exit.With(exit.Usage, err)
		}
		return nil, exit.With(exit.NotJudged, err)
	}
	l := &Locked{Invalid: validate.Invalid(p.call.Config)}
	if how.Prune && len(l.Invalid) == 0 {
		dropped, err := p.call.locker.Prune(ctx)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		for _, set := range dropped {
			l.Dropped = append(l.Dropped, set.String())
		}
	}
	l.Used, l.Resolved, l.Unused = p.call.locker.Used(), p.call.locker.Resolved()+p.call.locker.Unresolved(), p.call.locker.Unused()
	return l, nil
}

// buildImages builds the images that resolve requirements.
func (p *Project) buildImages(ctx context.Context) error {
	images := p.Plan.Images()
	if len(images) == 0 {
		return nil
	}
	rep, err := p.bringUpToDate(ctx, images)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return exit.With(exit.NotJudged, err)
	}
	for _, id := range rep.Nodes {
		switch st := rep.Status(id); {
		case st.Input:
			return exit.With(exit.Usage, fmt.Errorf("%s: %s", p.Plan.Graph.Node(id).Addr, st.Message))
		case st.State == event.Broken:
			return exit.With(exit.NotJudged, fmt.Errorf("%s: %s", p.Plan.Graph.Node(id).Addr, st.Message))
		}
	}
	return nil
}

// bringUpToDate executes stale nodes among the targets and their dependencies, outside of a recorded run.
func (p *Project) bringUpToDate(ctx context.Context, targets []graph.ID) (*graph.Report, error) {
	return p.Plan.Graph.Execute(ctx, targets, graph.Options{Store: p.call.stores.Store, Locker: p.call.stores.Store, Last: p.Last, Run: p.call.run, Pools: p.Plan.Pools, Backlog: p.call.site.Queue()})
}

// newLocker returns a locker that reads pinned requirements from the lock file and, if the call can write,
// resolves and adds missing ones.
func (c *call) newLocker() (*requirements.Locker, error) {
	o := c.options
	return requirements.NewLocker(requirements.LockerOptions{
		Path: c.lockPath(), State: c.state, ReadOnly: c.access == Reading, Locked: o.Locked, Offline: o.Offline, Upgrade: c.access == renewing, LookupEnv: o.Getenv,
		Renewed:   func() { o.Note(options.LockRenewed{Name: LockFile}) },
		Unhashed:  func(pins []string) { o.Note(options.LockUnhashed{Name: LockFile, Pins: pins}) },
		Resolving: func(n int, python string) { o.Note(options.Locking{Requirements: n, Python: python}) },
	})
}

// lockPath returns the path of the lock file.
func (c *call) lockPath() string { return filepath.Join(c.Config.Root, LockFile) }
