package graph

import (
	"context"
	"time"
)

// Phase names what the time of a node goes to.
type Phase string

// The phases.
const (
	Hashing   Phase = "hashing"   // what the node depends on is read and hashed, backends are asked what they are
	LookUp    Phase = "look up"   // a stored answer is looked for, and the key locked
	Working   Phase = "working"   // the task, as far as it says no more
	Preparing Phase = "preparing" // environments and images that sessions share
	Workspace Phase = "workspace" // inputs are put in place
	Executing Phase = "backend"   // a program runs
	Storing   Phase = "storing"   // outputs are read and stored, and then the record
	Closing   Phase = "closing"   // what was left running is ended, workspaces are removed
)

// Mark is the begin of a phase, which lasts until the next one begins.
type Mark struct {
	Phase Phase
	At    time.Time
}

// Profile is told where the time of nodes went. It is safe for concurrent use.
type Profile interface {
	// Decided is told of each decision about a node.
	Decided(addr string, marks []Mark, end time.Time)
	// Worked is told of each attempt at a node's work, and before the Sink is told
	// that it is over. Its slot of the pool was taken when the first phase began.
	Worked(addr, pool string, attempt int, marks []Mark, end time.Time)
}

// phases are the phases of one node so far; those of nil are not wanted, and cost
// nothing.
type phases struct{ marks []Mark }

func (p *phases) enter(name Phase) {
	if p != nil && (len(p.marks) == 0 || p.marks[len(p.marks)-1].Phase != name) {
		p.marks = append(p.marks, Mark{name, time.Now()})
	}
}

// Phase says what the work does from now on. It is called by one goroutine at a
// time.
func (w *Work) Phase(name Phase) { w.phases.enter(name) }

// check decides about one node whose dependencies are settled. It only reads
// the scheduler's state, so leaves may be checked side by side.
func (s *scheduler) check(ctx context.Context, id ID, forced string) checked {
	if s.o.Profile == nil {
		return s.decision(ctx, id, forced, nil)
	}
	p := &phases{}
	p.enter(Hashing)
	c := s.decision(ctx, id, forced, p)
	s.o.Profile.Decided(s.g.Node(id).Addr, p.marks, time.Now())
	return c
}
