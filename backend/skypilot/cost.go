package skypilot

import (
	"fmt"
	"time"

	"github.com/fevalgraph/fevalgraph/backend"
)

// spend adds the cost of an ended cluster.
func (p *Pool) spend(l Lease) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cost, known := l.Cost(time.Now()); known {
		p.spent += cost
	}
}

// affords returns an error for a launch that could exceed the run's maximum cost,
// assuming that the cluster runs for an hour. Otherwise, it reserves that cost.
func (p *Pool) affords() (reserved float64, err error) {
	o := &p.opt
	if o.MaxCost == 0 {
		return 0, nil
	}
	hourly := o.Hourly()
	if hourly == nil {
		return 0, &backend.SettingError{Setting: "max_cost", Err: fmt.Errorf("the cost of %s is unknown, so a limit cannot be enforced", o.Machines), Hint: "set price, in US dollars per hour of a cluster, or remove max_cost"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	total := p.spent + p.reserved + *hourly
	for _, c := range p.clusters {
		cost, _ := c.lease.Cost(time.Now())
		total += max(cost, *hourly)
	}
	if total > o.MaxCost {
		return 0, &backend.SettingError{Setting: "max_cost", Err: fmt.Errorf("with another cluster the run could spend $%.2f in its first hour, more than $%.2f", total, o.MaxCost)}
	}
	p.reserved += *hourly
	return *hourly, nil
}
