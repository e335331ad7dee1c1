package eval

import (
	"context"
	"fmt"

	"github.com/fevalgraph/fevalgraph/eval/kind"
	"github.com/fevalgraph/fevalgraph/eval/options"
)

// endLeftClusters ends clusters that crashed runs left and this run did not use.
func (c *call) endLeftClusters() {
	ended, err := c.options.EndClusters(context.Background(), c.site, false)
	for _, name := range ended {
		c.options.Note(options.Machines{Text: fmt.Sprintf("ended cluster %s, which an earlier run left behind", name)})
	}
	if err != nil {
		c.options.Note(options.ClusterLeft{Err: err})
	}
}

// launches returns the machines that a run would request from backends.
func (p *Project) launches(ctx context.Context, waiting map[string]pendingWork) []kind.Launch {
	var all []kind.Launch
	for _, b := range p.Plan.Machines() {
		k, w := p.call.kind(b), waiting[b.Pool]
		if k.Forecast == nil || w.nodes == 0 {
			continue
		}
		trusted := k.Asks == nil || p.call.trust.Allows(k.Asks(b))
		l := k.Forecast(ctx, p.call.site, b, w.nodes, w.seconds, trusted)
		l.Backend = b.Addr()
		all = append(all, l)
	}
	return all
}

// pendingWork is the pending work in a pool.
type pendingWork struct {
	nodes   int
	seconds float64
}
