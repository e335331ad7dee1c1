package view

import (
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// tally is the state of a progress display: counts, and the running nodes. Its size does not grow with the
// graph.
type tally struct {
	started  time.Time
	finished time.Time // when a node last finished; at first, started
	total    int       // nodes of the run
	done     int       // nodes with a final state
	ran      int       // executed, with any result
	cached   int
	failed   int // counted in ran, as broken is
	broken   int
	blocked  int
	skipped  int // skipped, since a device is missing
	stopped  int // interrupted
	good     int // graded checkpoints that passed, or have a score
	bad      int // graded checkpoints that did not
	running  []runningNode
	paces    []pace
}

// pace sums up the durations of a kind of work.
type pace struct {
	kind         string
	queued, done int     // numbers of stale and of finished nodes
	seconds      float64 // of the finished ones
}

func (t *tally) pace(kind string) *pace {
	at := slices.IndexFunc(t.paces, func(p pace) bool { return p.kind == kind })
	if at < 0 {
		at = len(t.paces)
		t.paces = append(t.paces, pace{kind: kind})
	}
	return &t.paces[at]
}

// runningNode is a node whose work has begun. There are only as many as jobs, so a slice in order of start
// suffices.
type runningNode struct {
	addr, kind string
	attempt    int
	since      time.Time
}

// add counts an event that arrived at now.
func (t *tally) add(e event.Event, now time.Time) {
	if t.started.IsZero() {
		t.started, t.finished = now, now
	}
	switch e := e.(type) {
	case event.RunStart:
		t.total = e.Nodes
	case event.RunAgain:
		t.total, t.done, t.cached, t.failed, t.broken, t.blocked, t.skipped, t.stopped = e.Nodes, 0, 0, 0, 0, 0, 0, 0
	case event.NodeQueued:
		t.pace(e.Kind).queued++
	case event.NodeStart:
		t.stop(e.Addr)
		t.running = append(t.running, runningNode{e.Addr, e.Kind, e.Attempt, now})
	case event.NodeRetry:
		t.stop(e.Addr)
	case event.Verdict:
		if isGood(e) {
			t.good++
		} else {
			t.bad++
		}
	case event.NodeReopened:
		t.count(e.State, -1)
	case event.NodeDone:
		t.stop(e.Addr)
		t.finished = now
		t.count(e.State, +1)
		if e.State != event.Cached {
			p := t.pace(e.Kind)
			p.done++
			p.seconds += e.Seconds
		}
	}
}

// count adds n nodes with a final state.
func (t *tally) count(s event.State, n int) {
	t.done += n
	switch s {
	case event.Cached:
		t.cached += n
	case event.Blocked:
		t.blocked += n
	case event.Skipped:
		t.skipped += n
	case event.Interrupted:
		t.stopped += n
	default:
		t.ran += n
	}
	switch s {
	case event.Failed, event.Timeout:
		t.failed += n
	case event.Broken:
		t.broken += n
	}
}

// stop removes addr from the running nodes, and reports whether it was running.
func (t *tally) stop(addr string) bool {
	before := len(t.running)
	t.running = slices.DeleteFunc(t.running, func(n runningNode) bool { return n.addr == addr })
	return len(t.running) < before
}

// remaining estimates the seconds left for the known stale work from the durations of the same kinds of work
// in this run. It returns false while a kind has no durations. Stale work that has not been found yet is not
// included.
func (t *tally) remaining() (float64, bool) {
	const enough = 3
	seconds := 0.0
	for _, p := range t.paces {
		left := p.queued - p.done
		if left > 0 && p.done < enough {
			return 0, false
		}
		seconds += float64(max(left, 0)) * p.seconds / float64(max(p.done, 1))
	}
	return seconds / float64(max(len(t.running), 1)), seconds > 0
}
