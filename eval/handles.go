package eval

import (
	"context"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/fevalgraph/fevalgraph/eval/partition"
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/plan"
)

// changedBackends asks the recorded backends for their identities and returns the
// addresses of those that answer otherwise, or not at all. Those that answer are given
// to the plan, which does not ask them again.
func (p *Project) changedBackends(ctx context.Context, records []partition.Backend) map[string]bool {
	handles := make([]*plan.BackendHandle, len(records))
	same := make([]bool, len(records))
	var group errgroup.Group
	for i, was := range records {
		block, err := was.WithSecrets(p.options.Getenv)
		if err != nil {
			continue
		}
		if handles[i], err = plan.Rehydrate(block, was.Use, p.environment()); err != nil {
			continue
		}
		group.Go(func() error {
			now, err := handles[i].Fingerprint(ctx)
			same[i] = err == nil && reflect.DeepEqual(now, was.Fingerprint)
			return nil // what is wrong shows when a node asks
		})
	}
	_ = group.Wait()
	changed := map[string]bool{}
	for i, was := range records {
		if same[i] {
			p.rehydrated = append(p.rehydrated, handles[i])
		} else {
			changed[was.Block.Addr()] = true
		}
	}
	return changed
}

// partition.Backends are those of the backends that an execution used, and of the recorded
// ones that it had no use for and that are unchanged.
func (p *Project) backendRecords(ctx context.Context, rep *graph.Report, old []partition.Backend, changed map[string]bool) ([]partition.Backend, error) {
	var all []partition.Backend
	for _, h := range p.Plan.Backends(rep) {
		fingerprint, err := h.Fingerprint(ctx)
		if err != nil {
			return nil, err
		}
		record, err := partition.Record(h, p.Config, fingerprint)
		if err != nil {
			return nil, err
		}
		all = append(all, record)
	}
	for _, was := range old {
		known := func(b partition.Backend) bool { return b.Use == was.Use && reflect.DeepEqual(b.Block, was.Block) }
		if !changed[was.Block.Addr()] && !slices.ContainsFunc(all, known) {
			all = append(all, was)
		}
	}
	return all, nil
}
