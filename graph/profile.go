package graph

import "time"

// Phase is a phase of the processing of a node.
type Phase string

// The phases.
const (
	Hashing   Phase = "hashing"   // reads and hashes sources, identifies backends
	LookUp    Phase = "look up"   // looks for a stored answer, and locks the key
	Working   Phase = "working"   // runs the task, unless it calls Work.Phase
	Preparing Phase = "preparing" // prepares environments and images that sessions share
	Workspace Phase = "workspace" // places inputs
	Executing Phase = "backend"   // runs a program
	Storing   Phase = "storing"   // reads and stores outputs, and then the record
	Closing   Phase = "closing"   // ends remaining processes and removes workspaces
)

// Mark is the start of a phase, which lasts until the next one starts.
type Mark struct {
	Phase Phase
	At    time.Time
}

// Profile receives the durations of phases of nodes. It is safe for concurrent
// use.
type Profile interface {
	// Decided is called after each decision about a node.
	Decided(addr string, marks []Mark, end time.Time)
	// Worked is called after each attempt at a node's work, before the event of
	// its end. The attempt held its slot from the start of the first phase.
	Worked(addr, pool string, attempt int, marks []Mark, end time.Time)
}

// phases collects the phases of one node. It is nil without a Profile.
type phases struct{ marks []Mark }

func (p *phases) enter(name Phase) {
	if p != nil && (len(p.marks) == 0 || p.marks[len(p.marks)-1].Phase != name) {
		p.marks = append(p.marks, Mark{name, time.Now()})
	}
}

// Phase begins the next phase of the work. It must be called by one goroutine
// at a time.
func (w *Work) Phase(name Phase) { w.phases.enter(name) }
