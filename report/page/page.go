// Package page writes recorded runs as a page for a browser: one file that opens by double
// click, or, beyond a size, a file and a directory of data beside it, which the page loads
// as it needs them. It also serves such a page while a run goes on.
//
// The page shows what it was handed, and judges nothing. What a page consists of is data,
// compressed, and one program (web/), which is compiled into dist/ and embedded. All that
// comes from submissions reaches the page as text of elements, never as markup, and the
// page's policy allows no code but that program.
package page

import (
	"errors"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
	"github.com/fevalgraph/fevalgraph/report"
	"github.com/fevalgraph/fevalgraph/report/draw"
)

// ErrNoResults says that no run has any.
var ErrNoResults = errors.New("no run has results yet")

// Page is what a report shows.
type Page struct {
	Project string // its name for people
	Version string // of the program
	// Foreign means that the only run is of files of other programs: it has results alone. Notes are remarks on them.
	Foreign bool
	Notes   []string
	// Runs are the earliest first. The report is about the last one; those before it are
	// what it is compared with.
	Runs []Run
	// Before are the runs before those, for figures over runs.
	Before []report.HistoryPoint
	// Words are what selectors may call a verdict.
	Words func(report.Checkpoint) []string
	// Nodes returns the nodes that made a cell of the last run. It is called once for each
	// cell, by one goroutine at a time.
	Nodes func(*report.Cell) ([]Node, error)
	// Graph draws the nodes of a cell with those that it shares. nil, of the function or of what it returns, means
	// that no edge is known.
	Graph func(*report.Cell) *draw.Drawing
	// Sources returns the trees that each checkpoint of a cell was judged by. nil means that none is known.
	Sources func(*report.Cell) []Trees
	// Tree reads a tree of Sources. It returns nil if the tree is gone.
	Tree func(id string) (*Tree, error)
	// Work is what ran in the last run, in order of its begin.
	Work []Work
}

// Run is a recorded run.
type Run struct {
	ID        string
	Start     time.Time // zero when it is not known
	Partial   bool      // Selection left cells out
	Selection string    // in the words of the command line; "" is everything
	Seconds   float64
	Executed  int // nodes
	Cached    int
	Ended     bool
	Exit      int
	Results   *report.Results
	// Difference is what became of its results in the last run; nil for the last.
	Difference *report.Difference
	// Step is what became of the results of the run before in this one; nil for the first of all.
	Step *report.Difference
}

// Node is a piece of work that a cell needed. Its JSON is what the page reads.
type Node struct {
	Addr    string         `json:"addr"`
	Kind    string         `json:"kind"`
	State   string         `json:"state"`
	Cause   string         `json:"cause"` // why it ran, or was served
	Changes []event.Change `json:"changes,omitempty"`
	Files   []string       `json:"files,omitempty"` // that are behind the changes
	Key     string         `json:"key,omitempty"`
	Fields  [][2]string    `json:"fields,omitempty"` // of the manifest: label and value
	Seconds float64        `json:"seconds"`
	Attempt int            `json:"attempt"`
	Message string         `json:"message,omitempty"`
	Log     string         `json:"log,omitempty"`
}

// Work is an attempt at a node's work.
type Work struct {
	Addr, Kind, Pool, State string
	Start, Seconds          float64 // since the run began; of the work
}
