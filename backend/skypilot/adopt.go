package skypilot

import (
	"context"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/internal/retry"
)

// adopt takes over clusters of dead runs that the pool can use.
func (p *Pool) adopt(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer p.cancelWithClose(cancel)()
	defer close(p.adopting)
	leases, err := p.opt.Leases.All()
	if err != nil {
		return // they are tried again when the run ends
	}
	for len(leases) > 0 {
		p.mu.Lock()
		n := min(p.opt.MaxClusters-len(p.clusters), len(leases))
		p.mu.Unlock()
		if n <= 0 {
			return
		}
		var tried sync.WaitGroup
		for _, l := range leases[:n] {
			tried.Go(func() { p.adoptOne(ctx, l) })
		}
		tried.Wait()
		leases = leases[n:]
	}
}

// patience limits how long a provider that does not answer is queried about a cluster that might be
// reused, and pause is the time between queries. A launch would also have to wait for it.
const (
	patience = 5 * time.Minute
	pause    = 2 * time.Second
)

// stateOf returns the state of a cluster, or "" if the provider does not report it.
func (p *Pool) stateOf(ctx context.Context, cluster string) State {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var state State
	_ = retry.Patience{For: retry.Forever, Pause: pause}.Do(ctx, func(error) bool { return true }, func() (err error) {
		state, err = p.opt.Provider.State(ctx, cluster)
		return err
	})
	return state
}

// serves reports whether a worker of a cluster seems to run, without waiting for the provider.
func (p *Pool) serves(ctx context.Context, cluster string) bool {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	_, there, _ := p.opt.address(ctx, cluster)
	return there
}

// adoptOne takes over the cluster of a lease, if the pool can use it.
func (p *Pool) adoptOne(ctx context.Context, l Lease) {
	if l.Kind != p.kind || l.Run == p.opt.Run || l.Ending {
		return
	}
	if living, err := p.opt.Living(l.Run); err != nil || living {
		return
	}
	if !p.serves(ctx, l.Cluster) && p.stateOf(ctx, l.Cluster) != Up {
		return
	}
	l, ok, err := p.opt.Leases.adopt(ctx, l, p.opt.Run)
	if !ok || err != nil {
		return
	}
	short, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	c, err := p.connect(short, l)
	if err == nil {
		if err = p.verify(short, c, false); err != nil {
			c.client.Close()
		}
	}
	if err != nil {
		p.opt.notice("cluster %s of an earlier run cannot be used: %v", l.Cluster, err)
		if err := p.end(context.WithoutCancel(ctx), l); err != nil {
			p.opt.notice("%v", err)
		}
		return
	}
	p.opt.notice("reusing cluster %s of an earlier run", l.Cluster)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clusters = append(p.clusters, c)
	p.notify()
}
