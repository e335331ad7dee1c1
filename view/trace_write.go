package view

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// traceEvent is one event of the trace event format. Times are in microseconds, and whole: viewers add them,
// and with fractions a part can seem to end after the whole.
type traceEvent struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     int64          `json:"ts"`
	Duration *int64         `json:"dur,omitempty"` // of complete events
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	ID       string         `json:"id,omitempty"` // shared by two related events
	Args     map[string]any `json:"args,omitempty"`
}

// The processes of a trace, which viewers show one below the other, and the lane of the run's own phases.
const (
	runProcess      = 1
	decisionProcess = 2
	phaseLane       = 0
)

// shortest is the minimum duration of decisions about nodes that did not run: there can be a hundred
// thousand that took almost no time.
const shortest = 100 * time.Microsecond

// Write writes the trace as one JSON object in the format of Chrome's tracing page, Perfetto and Speedscope.
// Lanes of work are slots of a pool that were in use at the same time; a gap in all of them is idle time of
// the pool.
func (t *Trace) Write(w io.Writer) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	decisions := slices.DeleteFunc(slices.Clone(t.decisions), func(n tracedNode) bool {
		_, ran := t.last[n.addr]
		return !ran && n.end.Sub(n.spans[0].Since) < shortest
	})
	deciders, deciderCount := lanes(decisions)

	all := []traceEvent{named("process_name", "fevalgraph", runProcess, 0), named("process_name", "decisions", decisionProcess, 0),
		named("thread_name", "run", runProcess, phaseLane)}
	for lane := range deciderCount {
		all = append(all, named("thread_name", fmt.Sprintf("decider %d", lane+1), decisionProcess, lane+1))
	}
	all = append(all, t.events...)
	all = append(all, t.work()...)
	for i, n := range decisions {
		all = append(all, t.node(n, decisionProcess, deciders[i])...)
	}
	return json.NewEncoder(w).Encode(map[string]any{"displayTimeUnit": "ms", "traceEvents": all})
}

// work returns the attempts, pool by pool, and the waits for them.
func (t *Trace) work() (all []traceEvent) {
	pools := map[string][]tracedNode{}
	for _, n := range t.attempts {
		pools[n.pool] = append(pools[n.pool], n)
	}
	last, number := phaseLane, 0 // lanes and waits so far
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		nodes := pools[name]
		slots, count := lanes(nodes)
		for slot := range count {
			all = append(all, named("thread_name", fmt.Sprintf("%s %d", name, slot+1), runProcess, last+slot+1))
		}
		for i, n := range nodes {
			all = append(all, t.node(n, runProcess, last+slots[i])...)
			if !n.queued.IsZero() {
				number++
				all = append(all, t.queue(n, number)...)
			}
		}
		last += count
	}
	return all
}

func named(what, name string, process, thread int) traceEvent {
	return traceEvent{Name: what, Phase: "M", Process: process, Thread: thread, Args: map[string]any{"name": name}}
}

// slice returns a complete event.
func (t *Trace) slice(e traceEvent, from, to time.Time) traceEvent {
	e.Phase, e.Time = "X", t.microseconds(from)
	duration := t.microseconds(to) - e.Time
	e.Duration = &duration
	return e
}

// microseconds returns the time since the start.
func (t *Trace) microseconds(at time.Time) int64 { return at.Sub(t.start).Microseconds() }

// node returns a slice for the node and one below it for each of its spans with a duration: viewers cannot
// order an empty one.
func (t *Trace) node(n tracedNode, process, lane int) []traceEvent {
	began := n.spans[0].Since
	args := map[string]any{}
	for name, value := range n.args {
		args[name] = value
	}
	if !n.queued.IsZero() {
		args["queued_s"] = began.Sub(n.queued).Seconds()
	}
	all := []traceEvent{t.slice(traceEvent{Name: n.addr, Category: n.kind, Process: process, Thread: lane, Args: args}, began, n.end)}
	for i, s := range n.spans {
		to := n.end
		if i+1 < len(n.spans) {
			to = n.spans[i+1].Since
		}
		if t.microseconds(s.Since) < t.microseconds(to) {
			all = append(all, t.slice(traceEvent{Name: s.Name, Category: "phase", Process: process, Thread: lane}, s.Since, to))
		}
	}
	return all
}

// queue returns the begin and the end of a node's wait for its slot. Any number can wait at a time, so they
// have no lanes.
func (t *Trace) queue(n tracedNode, number int) []traceEvent {
	e := traceEvent{Name: n.addr, Category: "queue", Process: runProcess, Thread: phaseLane, ID: fmt.Sprintf("%#x", number)}
	begin, end := e, e
	begin.Phase, begin.Time = "b", t.microseconds(n.queued)
	end.Phase, end.Time = "e", max(t.microseconds(n.spans[0].Since), t.microseconds(n.queued))
	return []traceEvent{begin, end}
}
