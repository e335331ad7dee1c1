package skypilot

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/fevalgraph/fevalgraph/backend/facts"
	"github.com/fevalgraph/fevalgraph/backend/worker"
)

// know answers a question about the pool's machines from stored facts, or queries a machine.
func (p *Pool) know(ctx context.Context, what string) (facts.Fact, error) {
	if answer, ok := p.facts.Get(what); ok {
		return answer, nil
	}
	c, err := p.acquire(ctx, nil)
	if err != nil {
		return facts.Fact{}, err
	}
	defer p.release(c)
	done, err := c.lockPreparing(ctx)
	if err != nil {
		return facts.Fact{}, err
	}
	defer done()
	if answer, ok := p.facts.Get(what); ok { // another caller queried it meanwhile
		return answer, nil
	}
	answer, err := askMachine(ctx, c.client, what)
	if err != nil {
		return facts.Fact{}, err
	}
	c.reported[what] = answer
	return answer, p.facts.Put(map[string]facts.Fact{what: answer})
}

func askMachine(ctx context.Context, c *worker.Client, what string) (facts.Fact, error) {
	return facts.Ask(ctx, c.Backend(), c.Sandbox(), what)
}

// otherError means that a cluster's answer differs from the known fact about the pool's clusters.
type otherError struct{ cluster, backend, difference string }

func (e *otherError) Error() string {
	return fmt.Sprintf("cluster %s differs from earlier clusters of backend %s: %s; run again", e.cluster, e.backend, e.difference)
}

// verify queries a cluster for every known fact of its kind that it has not answered yet. A difference is
// an error: keys of this run contain another value. If replaces is set, the new value is stored for the
// next run.
func (p *Pool) verify(ctx context.Context, c *cluster, replaces bool) error {
	done, err := c.lockPreparing(ctx)
	if err != nil {
		return err
	}
	defer done()
	known := p.facts.All()
	if _, ok := known[facts.Isolation]; !ok {
		level, err := askMachine(ctx, c.client, facts.Isolation)
		if err == nil {
			err = p.facts.Put(map[string]facts.Fact{facts.Isolation: level})
		}
		if err != nil {
			return err
		}
	}
	changed := map[string]facts.Fact{}
	first := ""
	for _, what := range slices.Sorted(maps.Keys(known)) {
		before := known[what]
		now, asked := c.reported[what]
		if !asked {
			var err error
			if now, err = askMachine(ctx, c.client, what); err != nil {
				return fmt.Errorf("identifying cluster %s: %w", c.lease.Cluster, err)
			}
			c.reported[what] = now
		}
		if !reflect.DeepEqual(before, now) {
			changed[what] = now
			if first == "" {
				first = facts.Difference(what, before, now)
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	other := &otherError{c.lease.Cluster, p.opt.Name, first}
	if replaces {
		p.mu.Lock()
		p.factMismatch = other
		p.mu.Unlock()
		if err := p.facts.Put(changed); err != nil {
			return err
		}
	}
	return other
}
