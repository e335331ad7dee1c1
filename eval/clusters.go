package eval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fevalgraph/fevalgraph/eval/exit"
)

// Cluster is one that a project has on machines that a backend launched.
type Cluster struct {
	Name     string    `json:"name"`
	Backend  string    `json:"backend"`  // the address of the block
	Machines string    `json:"machines"` // what it is made of
	Run      string    `json:"run"`      // that has it, or had it last
	Living   bool      `json:"living"`   // whether that run is going on
	Since    time.Time `json:"since"`
	Kept     time.Time `json:"kept,omitzero"` // until when it waits for another run
	Cost     *float64  `json:"cost"`          // so far, in US dollars; nil is not known
}

// Orphaned reports whether no run has the cluster and none is waited for.
func (c *Cluster) Orphaned(now time.Time) bool { return !c.Living && !c.Kept.After(now) }

// String describes the cluster to a person, with what it has cost so far.
func (c *Cluster) String() string {
	state := "of run " + c.Run
	switch {
	case c.Orphaned(time.Now()):
		state = "left behind; `fevalgraph clean --clusters` ends it"
	case !c.Living:
		state = "kept until " + c.Kept.Local().Format("15:04")
	}
	cost := "cost not known"
	if c.Cost != nil {
		cost = fmt.Sprintf("$%.2f", *c.Cost)
	}
	return fmt.Sprintf("%s: %s, since %s, %s, %s", c.Name, c.Machines, c.Since.Local().Format("15:04"), cost, state)
}

// Launch is what a run would ask a backend for.
type Launch struct {
	Backend  string   `json:"backend"`
	Machines string   `json:"machines"` // what each cluster is made of
	Clusters int      `json:"clusters"` // about so many
	Hourly   *float64 `json:"hourly"`   // US dollars of each; nil is not known
}

// Clusters are those of a project, living or left behind.
func Clusters(o Options) ([]Cluster, error) {
	site := o.bareSite()
	defer site.Close()
	var all []Cluster
	for _, k := range o.Kinds {
		if k.Clusters == nil {
			continue
		}
		found, err := k.Clusters(site)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		all = append(all, found...)
	}
	for i := range all {
		living, err := site.Living(all[i].Run)
		if err != nil {
			return nil, exit.With(exit.NotJudged, err)
		}
		all[i].Living = living
	}
	return all, nil
}

// endClusters ends the clusters that no living run has: those that nothing waits for any
// more or, with all, also those that are kept.
func (o *Options) endClusters(ctx context.Context, site *Site, all bool) (ended []string, err error) {
	var errs []error
	for _, k := range o.Kinds {
		if k.EndClusters != nil {
			names, err := k.EndClusters(ctx, site, all)
			ended, errs = append(ended, names...), append(errs, err)
		}
	}
	return ended, errors.Join(errs...)
}

// endLeftClusters ends, at the end of a run, what crashed runs left and this one had no use for.
func (p *Project) endLeftClusters() {
	ended, err := p.options.endClusters(context.Background(), p.site, false)
	for _, name := range ended {
		p.options.notify(Machines{fmt.Sprintf("ended cluster %s, which an earlier run left behind", name)})
	}
	if err != nil {
		p.options.notify(ClusterLeft{err})
	}
}

// launches are what a run of some nodes would ask backends for.
func (p *Project) launches(ctx context.Context, waiting map[string]work) []Launch {
	var all []Launch
	for _, b := range p.Plan.Machines() {
		k, w := p.kind(b), waiting[b.Pool]
		if k.Forecast == nil || w.nodes == 0 {
			continue
		}
		trusted := k.Asks == nil || p.trust.Allows(k.Asks(b))
		l := k.Forecast(ctx, p.site, b, w.nodes, w.seconds, trusted)
		l.Backend = b.Addr()
		all = append(all, l)
	}
	return all
}

// work is what a run would do in a pool.
type work struct {
	nodes   int
	seconds float64
}
