package eval

import (
	"context"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/plan"
)

// askBackends sets in same which recorded backends have the same identity. They are passed to the plan, which does not
// query them again.
func (f *freshness) askBackends(ctx context.Context, same []bool) {
	handles := make([]*plan.BackendHandle, len(same))
	var group errgroup.Group
	for at, s := range f.index.Shared {
		if s.Backend == nil {
			continue
		}
		block, err := s.Backend.WithSecrets(f.call.options.Getenv)
		if err == nil {
			handles[at], err = plan.Rehydrate(block, s.Backend.Use, f.call.environment())
		}
		if err != nil {
			continue
		}
		group.Go(func() error {
			now, err := handles[at].Fingerprint(ctx)
			same[at] = err == nil && reflect.DeepEqual(now, s.Backend.Fingerprint)
			return nil // errors show when a node needs the backend
		})
	}
	_ = group.Wait()
	for at, h := range handles {
		if h != nil && same[at] {
			f.rehydrated = append(f.rehydrated, h)
		}
	}
}

// backendRecords returns the records of the backends that an execution used, and of recorded ones that it did
// not use and that are unchanged.
func (x *execution) backendRecords(ctx context.Context) (all []partition.Shared, err error) {
	for _, h := range x.project.Plan.Backends(x.rep) {
		fingerprint, err := h.Fingerprint(ctx)
		if err != nil {
			return nil, err
		}
		record, err := partition.Record(h, x.call.Config, fingerprint)
		if err != nil {
			return nil, err
		}
		all = append(all, partition.Shared{Addr: h.Block.Addr(), Backend: &record})
	}
	for _, was := range x.project.fresh.index.Shared {
		known := func(s partition.Shared) bool {
			return s.Backend.Use == was.Backend.Use && reflect.DeepEqual(s.Backend.Block, was.Backend.Block)
		}
		if was.Backend != nil && !x.project.fresh.changed[was.Addr] && !slices.ContainsFunc(all, known) {
			all = append(all, was)
		}
	}
	return all, nil
}
