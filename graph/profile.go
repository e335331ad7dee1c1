package graph

import "time"

// Phase names what the time of a node goes to.
type Phase string

// The phases.
const (
	Hashing   Phase = "hashing"   // sources are read and hashed, backends are identified
	LookUp    Phase = "look up"   // a stored answer is looked for, and the key locked
	Working   Phase = "working"   // the task, unless it calls Work.Phase
	Preparing Phase = "preparing" // environments and images that sessions share
	Workspace Phase = "workspace" // inputs are put in place
	Executing Phase = "backend"   // a program runs
	Storing   Phase = "storing"   // outputs are read and stored, and then the record
	Closing   Phase = "closing"   // what was left running is ended, workspaces are removed
)

// Mark is the beginning of a phase, which lasts until the next one begins.
type Mark struct {
	Phase Phase
	At    time.Time
}

// Profile receives where the time of nodes went. It is safe for concurrent use.
type Profile interface {
	// Decided is called after each decision about a node.
	Decided(addr string, marks []Mark, end time.Time)
	// Worked is called after each attempt at a node's work, before the event of its
	// end. The attempt's slot of the pool was taken when the first phase began.
	Worked(addr, pool string, attempt int, marks []Mark, end time.Time)
}

// phases are the phases of one node so far. Without a Profile they are nil, and
// cost nothing.
type phases struct{ marks []Mark }

func (p *phases) enter(name Phase) {
	if p != nil && (len(p.marks) == 0 || p.marks[len(p.marks)-1].Phase != name) {
		p.marks = append(p.marks, Mark{name, time.Now()})
	}
}

// Phase begins the next phase of the work. It is called by one goroutine at a
// time.
func (w *Work) Phase(name Phase) { w.phases.enter(name) }
