package kind

import (
	"fmt"
	"time"
)

// Cluster is a cluster of a project on machines that a backend launched.
type Cluster struct {
	Name     string    `json:"name"`
	Backend  string    `json:"backend"`  // address of the block
	Machines string    `json:"machines"` // description of its machines
	Run      string    `json:"run"`      // id of the run that has or last had it
	Living   bool      `json:"living"`   // whether that run is running
	Since    time.Time `json:"since"`
	Kept     time.Time `json:"kept,omitzero"` // how long it waits for another run
	Cost     *float64  `json:"cost"`          // so far, in US dollars; nil if unknown
}

// Orphaned reports whether no run has the cluster and its waiting time is over.
func (c *Cluster) Orphaned(now time.Time) bool { return !c.Living && !c.Kept.After(now) }

// String describes the cluster and its cost so far.
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

// Launch describes what a run would request from a backend.
type Launch struct {
	Backend  string   `json:"backend"`
	Machines string   `json:"machines"` // description of a cluster's machines
	Clusters int      `json:"clusters"` // expected number
	Hourly   *float64 `json:"hourly"`   // US dollars of each; nil if unknown
}
