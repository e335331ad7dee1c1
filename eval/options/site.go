package options

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/fevalgraph/fevalgraph/backend"
	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/user"
)

// Reapers end sessions of crashed runs, by the kind of their backends.
func (o *Options) Reapers() map[string]func(context.Context, backend.Entry) error {
	all := map[string]func(context.Context, backend.Entry) error{}
	sessionKey := sync.OnceValues(func() (backend.SessionKey, error) { return o.UserKey(true) }) // most runs find nothing to end
	for _, k := range o.Kinds {
		if k.Reap == nil {
			continue
		}
		reap := k.Reap(o.Getenv)
		all[k.Name] = func(ctx context.Context, e backend.Entry) error {
			key, err := sessionKey()
			if err == nil {
				err = key.Check(e)
			}
			if err != nil {
				return fmt.Errorf("session %s: %w", e.ID, err)
			}
			return reap(ctx, e)
		}
	}
	return all
}

// BareSite returns a site for queries of kinds outside of a run.
func (o *Options) BareSite() *kind.Site {
	key, _ := o.UserKey(false) // without a key there is nothing to prove
	userState, _ := user.StateDir(o.Getenv)
	return &kind.Site{
		Store: cache.NewMemory(), State: o.StateDir(), UserState: userState, Scratch: ScratchDir(), LookupEnv: o.Getenv, Key: key, Place: o.Place(o.StateDir(), false),
		Notice: o.NoticeMachines, Leftover: o.NoticeLeftover,
	}
}

func (o *Options) NoticeMachines(text string) { o.Note(Machines{text}) }
func (o *Options) NoticeLeftover(err error)   { o.Note(ClusterLeft{err}) }

// ScratchDir returns the directory for workspaces: a short path, since sockets in it have little room, and
// one per user.
func ScratchDir() string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("fevalgraph-%d", os.Getuid()))
}

// SumReaped counts the sessions that were ended, and returns why others were not; a reason that several share
// is returned once.
func SumReaped(reaped []backend.Reaped) (ended int, left []error) {
	said := map[string]bool{}
	for _, r := range reaped {
		switch {
		case r.Err == nil && r.Entry.Network: // ended with its sessions
		case r.Err == nil:
			ended++
		case !said[r.Err.Error()]:
			said[r.Err.Error()] = true
			left = append(left, r.Err)
		}
	}
	return ended, left
}

// EndClusters ends the clusters that no living run uses and that are not kept for another run or, with all,
// also the kept ones.
func (o *Options) EndClusters(ctx context.Context, site *kind.Site, all bool) (ended []string, err error) {
	var errs []error
	for _, k := range o.Kinds {
		if k.EndClusters != nil {
			names, err := k.EndClusters(ctx, site, all)
			ended, errs = append(ended, names...), append(errs, err)
		}
	}
	return ended, errors.Join(errs...)
}
