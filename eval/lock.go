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

// LockFile is the name of the file of pinned requirements.
const LockFile = requirements.FileName

// Locked counts the sets of requirements in the lock file.
type Locked struct {
	Used, Resolved int
	Unused         int      // nothing that is evaluated now asked for them, and they are in the file
	Dropped        []string // the same, and they are no more
	// Invalid are the mistakes of invalid problems. While there are any, nothing is
	// dropped: what these problems ask for is not known.
	Invalid diag.List
}

// LockOptions say what Lock does beyond resolving what is not in the lock file.
type LockOptions struct {
	Upgrade bool // resolve everything that is asked for again, to the newest versions
	Prune   bool // drop what nothing asks for, with the variables as they are
	DryRun  bool // leave the lock file as it is, and count what would be done
}

// Lock resolves the requirements that the lock file lacks, and adds the hashes that it lacks to
// those that it has, without another version of anything. Other variables may ask for more than
// these do, so nothing is dropped unless it is said.
func Lock(ctx context.Context, o Options, how LockOptions) (locked *Locked, err error) {
	access := Writing
	if how.Upgrade {
		access = renewing
	}
	p, err := Open(ctx, o, access)
	if err != nil {
		return nil, err
	}
	defer func() { err = p.closeAfter(err) }()
	p.locker.Rehash()
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
	l := &Locked{Invalid: validate.Invalid(p.Config)}
	if how.Prune && len(l.Invalid) == 0 {
		dropped, err := p.locker.Prune(ctx)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		for _, set := range dropped {
			l.Dropped = append(l.Dropped, set.String())
		}
	}
	l.Used, l.Resolved, l.Unused = p.locker.Used(), p.locker.Resolved()+p.locker.Unresolved(), p.locker.Unused()
	return l, nil
}

// buildImages makes the images in which requirements are resolved.
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

// bringUpToDate executes what is stale of some nodes, outside of any run's record.
func (p *Project) bringUpToDate(ctx context.Context, targets []graph.ID) (*graph.Report, error) {
	return p.Plan.Graph.Execute(ctx, targets, graph.Options{Store: p.stores.Store, Locker: p.stores.Store, Last: p.Last, Run: p.run, Pools: p.Plan.Pools, Backlog: p.site.Queue()})
}

// newLocker is what answers with pinned requirements: from the lock file, or, when the call
// may write, by resolving them and writing it.
func (c *call) newLocker() (*requirements.Locker, error) {
	o := c.options
	return requirements.NewLocker(requirements.LockerOptions{
		Path: c.lockPath(), State: c.state, ReadOnly: c.access == Reading, Locked: o.Locked, Offline: o.Offline, Upgrade: c.access == renewing, LookupEnv: o.Getenv,
		Renewed:   func() { o.Note(options.LockRenewed{Name: LockFile}) },
		Unhashed:  func(pins []string) { o.Note(options.LockUnhashed{Name: LockFile, Pins: pins}) },
		Resolving: func(n int, python string) { o.Note(options.Locking{Requirements: n, Python: python}) },
	})
}

// lockPath is where the lock file is.
func (c *call) lockPath() string { return filepath.Join(c.Config.Root, LockFile) }
