package eval

import (
	"context"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/plan"
)

// askBackends queries the identities of the recorded backends. Backends whose identity is unchanged are passed
// to the plan, which does not query them again.
func (f *freshness) askBackends(ctx context.Context) {
	records := f.index.Backends
	handles := make([]*plan.BackendHandle, len(records))
	same := make([]bool, len(records))
	var group errgroup.Group
	for i, was := range records {
		block, err := was.WithSecrets(f.call.options.Getenv)
		if err != nil {
			continue
		}
		if handles[i], err = plan.Rehydrate(block, was.Use, f.call.environment()); err != nil {
			continue
		}
		group.Go(func() error {
			now, err := handles[i].Fingerprint(ctx)
			same[i] = err == nil && reflect.DeepEqual(now, was.Fingerprint)
			return nil // errors show when a node needs the backend
		})
	}
	_ = group.Wait()
	f.changed = map[string]bool{}
	for i, was := range records {
		if same[i] {
			f.rehydrated = append(f.rehydrated, handles[i])
		} else {
			f.changed[was.Block.Addr()] = true
		}
	}
}

// backendRecords returns the records of the backends that an execution used, and of recorded ones that it did
// not use and that are unchanged.
func (x *execution) backendRecords(ctx context.Context) ([]partition.Backend, error) {
	var all []partition.Backend
	for _, h := range x.project.Plan.Backends(x.rep) {
		fingerprint, err := h.Fingerprint(ctx)
		if err != nil {
			return nil, err
		}
		record, err := partition.Record(h, x.call.Config, fingerprint)
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	for _, was := range x.project.fresh.index.Backends {
		known := func(b partition.Backend) bool { return b.Use == was.Use && reflect.DeepEqual(b.Block, was.Block) }
		if !x.project.fresh.changed[was.Block.Addr()] && !slices.ContainsFunc(all, known) {
			all = append(all, was)
		}
	}
	return all, nil
}
