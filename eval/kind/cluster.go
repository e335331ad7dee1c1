package kind

import (
	"fmt"
	"time"
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
