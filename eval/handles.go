package eval

import (
	"context"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/plan"
)

// askBackends asks the recorded backends for their identities. Those that answer as they did are
// given to the plan, which does not ask them again.
func (f *freshness) askBackends(ctx context.Context) {
	records := f.index.Backends
	handles := make([]*plan.BackendHandle, len(records))
	same := make([]bool, len(records))
	var group errgroup.Group
	for i, was := range records {
		block, err := was.WithSecrets(f.options.Getenv)
		if err != nil {
			continue
		}
		if handles[i], err = plan.Rehydrate(block, was.Use, f.environment()); err != nil {
			continue
		}
		group.Go(func() error {
			now, err := handles[i].Fingerprint(ctx)
			same[i] = err == nil && reflect.DeepEqual(now, was.Fingerprint)
			return nil // what is wrong shows when a node asks
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

// backendRecords returns the records of the backends that an execution used, and of the recorded
// ones that it had no use for and that are unchanged.
func (x *execution) backendRecords(ctx context.Context) ([]partition.Backend, error) {
	var all []partition.Backend
	for _, h := range x.Plan.Backends(x.rep) {
		fingerprint, err := h.Fingerprint(ctx)
		if err != nil {
			return nil, err
		}
		record, err := partition.Record(h, x.Config, fingerprint)
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	for _, was := range x.index.Backends {
		known := func(b partition.Backend) bool { return b.Use == was.Use && reflect.DeepEqual(b.Block, was.Block) }
		if !x.changed[was.Block.Addr()] && !slices.ContainsFunc(all, known) {
			all = append(all, was)
		}
	}
	return all, nil
}
