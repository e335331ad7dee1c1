package plan

import (
	"github.com/fevalgraph/fevalgraph/lang"
)

// fleet is what problems need of a backend that provides machines. Those that need the
// same share them.
type fleet struct {
	on        *lang.Backend
	resources lang.Resources
}

// machinePool is what the pools of machines are called, before the backend and what
// machines have. No pool block can have such a name.
const machinePool = "machines:"

// backendFor is the backend that a problem is evaluated on: of one that provides machines a
// variant of its block, with the machines that the problem needs and a pool of their own,
// so that no work waits for machines that it has no use for, or takes them.
func (c *compiler) backendFor(p *lang.Problem, b *lang.Backend) *lang.Backend {
	if b.Machines == nil {
		return b
	}
	f := fleet{on: b, resources: p.Resources.Over(b.Machines.Resources)}
	if known, ok := c.fleets[f]; ok {
		return known
	}
	variant, machines := *b, *b.Machines
	machines.Resources = f.resources
	machines.Pool = machinePool + b.Addr() + ":" + f.resources.String()
	variant.Machines, variant.Pool = &machines, machines.Pool
	c.plan.Pools[machines.Pool] = max(1, machines.MaxClusters) * max(1, machines.Slots)
	c.fleets[f] = &variant
	c.plan.machines = append(c.plan.machines, &variant)
	return &variant
}

// placeOf is the address of a backend and, of one that provides machines, what they have.
func placeOf(b *lang.Backend) string {
	if b.Machines == nil || b.Machines.Resources == (lang.Resources{}) {
		return b.Addr()
	}
	return b.Addr() + " " + b.Machines.Resources.String()
}
