package view

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// Trace collects when the nodes of a run waited and worked, and what else took
// time, and writes it in the trace event format that Chrome's tracing page,
// Perfetto and Speedscope read. It is an event.Sink, and safe for concurrent
// use.
type Trace struct {
	now func() time.Time

	mu     sync.Mutex
	start  time.Time
	queued map[string]time.Time // by address
	began  map[string]traced
	free   []bool // lanes, one for each node that works at a time
	events []traceEvent
}

// traced is a node that works.
type traced struct {
	since   time.Time
	lane    int
	waited  time.Duration
	attempt int
}

// traceEvent is one event of the format; times are in microseconds.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration float64        `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// phaseLane is where phases of the run are shown; nodes are above it.
const phaseLane = 0

// NewTrace returns a trace that begins at start; now is the clock, time.Now when
// nil.
func NewTrace(start time.Time, now func() time.Time) *Trace {
	if now == nil {
		now = time.Now
	}
	return &Trace{now: now, start: start, queued: map[string]time.Time{}, began: map[string]traced{}}
}

// Phase notes something that the run did from a time until now.
func (t *Trace) Phase(name string, since time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(traceEvent{Name: name, Category: "phase", Thread: phaseLane}, since, t.now())
}

func (t *Trace) add(e traceEvent, from, to time.Time) {
	e.Phase, e.Process = "X", 1
	e.Time, e.Duration = microseconds(from.Sub(t.start)), microseconds(to.Sub(from))
	t.events = append(t.events, e)
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// Emit implements event.Sink.
func (t *Trace) Emit(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	switch e := e.(type) {
	case event.NodeQueued:
		t.queued[e.Addr] = now
	case event.NodeStart:
		work := traced{since: now, lane: t.lane(), attempt: e.Attempt}
		if since, ok := t.queued[e.Addr]; ok {
			work.waited = now.Sub(since)
			delete(t.queued, e.Addr)
		}
		t.began[e.Addr] = work
	case event.NodeRetry:
		t.end(e.Addr, e.Kind, now, map[string]any{"state": "broken", "reason": e.Reason})
	case event.NodeDone:
		args := map[string]any{"state": e.State, "cause": e.Cause}
		if e.Message != "" {
			args["message"] = e.Message
		}
		t.end(e.Addr, e.Kind, now, args)
		delete(t.queued, e.Addr)
	}
}

// lane takes the lowest one that nobody has.
func (t *Trace) lane() int {
	i := slices.Index(t.free, true)
	if i < 0 {
		i = len(t.free)
		t.free = append(t.free, true)
	}
	t.free[i] = false
	return i
}

// end notes the work of a node, if it had begun.
func (t *Trace) end(addr, kind string, now time.Time, args map[string]any) {
	work, ok := t.began[addr]
	if !ok {
		return
	}
	delete(t.began, addr)
	t.free[work.lane] = true
	args["attempt"], args["queued_s"] = work.attempt, work.waited.Seconds()
	t.add(traceEvent{Name: addr, Category: kind, Thread: work.lane + 1, Args: args}, work.since, now)
}

// Write writes the trace as one JSON object. Lanes are slots that were in use at
// the same time; a gap in all of them is time in which nothing worked.
func (t *Trace) Write(w io.Writer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := []traceEvent{{Name: "process_name", Phase: "M", Process: 1, Args: map[string]any{"name": "fevalgraph"}}}
	for lane := range len(t.free) + 1 {
		name := "run"
		if lane > 0 {
			name = fmt.Sprintf("slot %d", lane)
		}
		all = append(all, traceEvent{Name: "thread_name", Phase: "M", Process: 1, Thread: lane, Args: map[string]any{"name": name}})
	}
	return json.NewEncoder(w).Encode(map[string]any{"displayTimeUnit": "ms", "traceEvents": append(all, t.events...)})
}
