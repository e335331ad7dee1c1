// Package page writes recorded runs as a page for a browser: one file that opens by double click or, beyond a size,
// a file with a directory of data next to it, which the page loads as needed. It can also serve the page during a run.
//
// The page shows its input and judges nothing. It consists of compressed data and one program (web/), which is
// compiled into dist/ and embedded. Text from submissions only becomes the text of elements, never markup, and the
// page's policy allows no other code.
package page

import (
	"errors"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
)

// ErrNoResults means that no run has results.
var ErrNoResults = errors.New("no run has results yet")

// Page is the input of a report.
type Page struct {
	Project string // display name
	Version string // version of fevalgraph
	// Foreign means that the only run is of files of other programs: it has results alone. Notes are remarks on them.
	Foreign bool
	Notes   []string
	// Runs are sorted by time. The report is about the last one; the earlier ones are for comparison.
	Runs []Run
	// Before are the runs before Runs, for figures over runs.
	Before []report.HistoryPoint
	// Words returns the words for a verdict in selectors.
	Words func(report.Checkpoint) []string
	// Nodes returns the nodes of a cell of the last run. It is called once for each cell, from one goroutine at
	// a time.
	Nodes func(*report.Cell) ([]Node, error)
	// Sources returns the trees that each checkpoint of a cell was judged on. nil means unknown.
	Sources func(*report.Cell) []Trees
	// Tree reads a tree of Sources. It returns nil if the tree is gone.
	Tree func(id string) (*Tree, error)
	// Work lists the work of the last run, sorted by start.
	Work []Work
}

// Run is a recorded run.
type Run struct {
	ID        string
	Start     time.Time // zero if unknown
	Partial   bool      // whether Selection left cells out
	Selection string    // as on the command line; "" means everything
	Seconds   float64
	Executed  int // nodes
	Cached    int
	Ended     bool
	Exit      int
	Results   *report.Results
	// Difference compares its results with the last run; nil for the last run.
	Difference *report.Difference
	// Step compares its results with the run before; nil for the first run.
	Step *report.Difference
}

// Node is a node that a cell needed. The page reads its JSON.
type Node struct {
	Addr    string         `json:"addr"`
	Kind    string         `json:"kind"`
	State   string         `json:"state"`
	Cause   string         `json:"cause"` // why it ran or was served
	Changes []event.Change `json:"changes,omitempty"`
	Files   []string       `json:"files,omitempty"` // files behind the changes
	Key     string         `json:"key,omitempty"`
	Fields  [][2]string    `json:"fields,omitempty"` // manifest: label and value
	Seconds float64        `json:"seconds"`
	Attempt int            `json:"attempt"`
	Message string         `json:"message,omitempty"`
	Log     string         `json:"log,omitempty"`
}

// Work is an attempt to execute a node.
type Work struct {
	Addr, Kind, Pool, State string
	Start, Seconds          float64 // since the start of the run; duration
}
