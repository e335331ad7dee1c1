package plan

import (
	"github.com/fevalgraph/fevalgraph/lang"
)

// fleet is a group of problems that share machines: they have the same requirements, on a backend that
// provides machines.
type fleet struct {
	on        *lang.Backend
	resources lang.Resources
}

// machinePool is the prefix of the names of pools of machines, followed by the backend and the machines'
// resources. No pool block can have such a name.
const machinePool = "machines:"

// backendFor returns the backend that evaluates a problem. If b provides machines, it is a variant of the
// block, with the machines that the problem needs and a separate pool, so that no work waits for, or
// occupies, machines that it cannot use.
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

// placeOf returns the address of a backend and, if it provides machines, their resources.
func placeOf(b *lang.Backend) string {
	if b.Machines == nil || b.Machines.Resources == (lang.Resources{}) {
		return b.Addr()
	}
	return b.Addr() + " " + b.Machines.Resources.String()
}
