package view

import (
	"slices"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// Trace collects the waiting times and phases of nodes, and the phases of a run. It is an event.Sink, and
// safe for concurrent use.
type Trace struct {
	now func() time.Time

	mu        sync.Mutex
	start     time.Time
	queued    map[string]time.Time // by address
	last      map[string]int       // index in attempts of each address's last one
	attempts  []tracedNode
	decisions []tracedNode
	events    []traceEvent // of the run itself
}

// Span is part of a node's time, from Since to the begin of the next.
type Span struct {
	Name  string
	Since time.Time
}

// tracedNode is a contiguous piece of a node's time.
type tracedNode struct {
	addr, kind string
	pool       string    // of an attempt
	queued     time.Time // zero if it did not wait
	spans      []Span
	end        time.Time
	args       map[string]any
}

// NewTrace returns a trace that begins at start; now is the clock, and nil means time.Now.
func NewTrace(start time.Time, now func() time.Time) *Trace {
	if now == nil {
		now = time.Now
	}
	return &Trace{now: now, start: start, queued: map[string]time.Time{}, last: map[string]int{}}
}

// Phase records a phase of the run from a time until now.
func (t *Trace) Phase(name string, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, t.slice(traceEvent{Name: name, Category: "phase", Process: runProcess, Thread: phaseLane}, since, t.now()))
}

// Decided records a decision about a node.
func (t *Trace) Decided(addr string, spans []Span, end time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.decisions = append(t.decisions, tracedNode{addr: addr, kind: "decision", spans: spans, end: end})
}

// Worked records an attempt at a node's work in a slot of the pool; a later event contains its outcome.
func (t *Trace) Worked(addr, pool string, attempt int, spans []Span, end time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last[addr] = len(t.attempts)
	t.attempts = append(t.attempts, tracedNode{addr: addr, pool: pool, queued: t.queued[addr], spans: spans, end: end, args: map[string]any{"attempt": attempt}})
	delete(t.queued, addr)
}

// Emit implements event.Sink.
func (t *Trace) Emit(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case event.NodeQueued:
		t.queued[e.Addr] = t.now()
	case event.NodeRetry:
		state := string(event.Broken)
		if e.Preempted {
			state = "preempted"
		}
		t.recordEnd(e.Addr, e.Kind, map[string]any{"state": state, "reason": e.Reason})
	case event.NodeDone:
		args := map[string]any{"state": string(e.State), "cause": e.Cause}
		if e.Message != "" {
			args["message"] = e.Message
		}
		t.recordEnd(e.Addr, e.Kind, args)
		delete(t.queued, e.Addr)
	}
}

// recordEnd records the outcome of the last attempt at a node, if any.
func (t *Trace) recordEnd(addr, kind string, args map[string]any) {
	at, ok := t.last[addr]
	if !ok {
		return
	}
	attempt := &t.attempts[at]
	attempt.kind = kind
	for name, value := range args {
		attempt.args[name] = value
	}
}

// lanes assigns nodes to the fewest possible lanes, in order of their begin, so that no two overlap. It
// returns the number of each node's lane, from 1, and the number of lanes.
func lanes(nodes []tracedNode) (of []int, count int) {
	slices.SortStableFunc(nodes, func(a, b tracedNode) int { return a.spans[0].Since.Compare(b.spans[0].Since) })
	var free []time.Time // end of the last node in each lane
	of = make([]int, len(nodes))
	for i, n := range nodes {
		lane := slices.IndexFunc(free, func(end time.Time) bool { return !end.After(n.spans[0].Since) })
		if lane < 0 {
			lane = len(free)
			free = append(free, time.Time{})
		}
		free[lane] = n.end
		of[i] = lane + 1
	}
	return of, len(free)
}
