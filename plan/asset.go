package plan

import (
	"github.com/fevalgraph/fevalgraph/graph"
	"github.com/fevalgraph/fevalgraph/lang"
	"github.com/fevalgraph/fevalgraph/tasks"
)

// materialize adds the node of an asset, shared by the checkpoints that have it.
func (c *compiler) materialize(p *lang.Problem, a lang.Asset) graph.ID {
	addr, labels := address(KindMaterialize, p.Name, a.Owner, a.Name), problemLabels(p, a.Owner)
	if a.From != nil {
		return c.place(addr, KindMaterialize, labels, a.From, tasks.Place{Target: a.Target, Ignore: a.Ignore, Shared: true})
	}
	return c.addOnce(graph.Node{
		Addr: addr, Kind: KindMaterialize, Labels: labels, Task: tasks.NewMaterialize(assetOf(a), c.sourcesOf(addr)), Pool: inProcessPool,
	})
}

func assetOf(a lang.Asset) tasks.Asset {
	return tasks.Asset{Source: a.Source, Glob: a.IsGlob, Target: a.Target, Ignore: a.Ignore, Mode: a.Mode, SHA256: a.SHA256}
}
