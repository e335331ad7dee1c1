package skypilot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// End ends a cluster, and removes its lease when it no longer exists.
func (o *Options) End(ctx context.Context, l Lease) error {
	ctx, cancel := context.WithTimeout(ctx, endDeadline)
	defer cancel()
	if state, err := o.Provider.State(ctx, l.Cluster); err == nil && state == Up && o.Remote != nil { // best effort: the job removes it, too
		short, cancel := context.WithTimeout(ctx, 20*time.Second)
		o.Remote.Run(short, l.Cluster, home+fmt.Sprintf(`rm -rf "$home/.fevalgraph/%s"`, l.Cluster), nil)
		cancel()
	}
	if err := o.Provider.End(ctx, l.Cluster); err != nil {
		return fmt.Errorf("ending cluster %s (the next run, or `fevalgraph clean --clusters`, tries again): %w", l.Cluster, err)
	}
	return o.Leases.Remove(l.Cluster)
}

// endDeadline bounds how long ending a cluster can take.
const endDeadline = 3 * time.Minute

// markDropped marks a cluster as unused, and ends it. The caller must hold the
// lock. Close ends clusters that are left.
func (p *Pool) markDropped(c *cluster) {
	if c.lost {
		return
	}
	c.lost = true
	if !p.closed {
		p.work.Go(func() { p.drop(c) })
	}
	p.notify()
}

// drop ends a cluster and forgets it.
func (p *Pool) drop(c *cluster) {
	c.client.Close()
	err := p.end(context.Background(), c.lease)
	p.spend(c.lease)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clusters = slices.DeleteFunc(p.clusters, func(other *cluster) bool { return other == c })
	p.notify()
	if err != nil {
		p.opt.notice("%v", err)
	}
}

// end ends a cluster. Close retries a failure.
func (p *Pool) end(ctx context.Context, l Lease) error {
	err := p.opt.End(ctx, l)
	if err != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.leftovers = append(p.leftovers, l)
	}
	return err
}

// endIdle ends clusters that had no work for Options.Idle.
func (p *Pool) endIdle(ctx context.Context) {
	tick := time.NewTicker(max(p.opt.Idle/4, time.Second))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		p.mu.Lock()
		for _, c := range p.clusters {
			if !c.lost && c.used == 0 && p.waiting == 0 && time.Since(c.since) > p.opt.Idle {
				p.opt.notice("ending cluster %s: it had no work for %v", c.lease.Cluster, p.opt.Idle)
				p.markDropped(c)
			}
		}
		p.mu.Unlock()
	}
}

// Close ends all clusters, or leaves them for the next run.
func (p *Pool) Close() error {
	p.stop()
	p.mu.Lock()
	p.closed = true
	p.notify()
	p.mu.Unlock()
	p.work.Wait() // launches and ends
	p.mu.Lock()
	clusters, left := p.clusters, p.leftovers
	p.clusters, p.leftovers = nil, nil
	kept := map[*cluster]bool{}
	for _, c := range clusters {
		kept[c] = p.opt.Keep > 0 && !c.lost
	}
	p.mu.Unlock()
	errs := make([]error, len(clusters)+len(left))
	var all sync.WaitGroup
	for i, l := range left {
		all.Go(func() { errs[len(clusters)+i] = p.opt.End(context.Background(), l) })
	}
	for i, c := range clusters {
		c.client.Close()
		if kept[c] {
			l := c.lease
			l.Kept = time.Now().UTC().Add(p.opt.Keep)
			errs[i] = p.opt.Leases.Write(l)
			p.opt.notice("keeping cluster %s for %v; `fevalgraph clean --clusters` ends it", l.Cluster, p.opt.Keep)
			continue
		}
		all.Go(func() { errs[i] = p.opt.End(context.Background(), c.lease) })
	}
	all.Wait()
	return errors.Join(errs...)
}
