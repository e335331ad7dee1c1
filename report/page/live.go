package page

import (
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// How much of a run that goes on the page gets.
const (
	mostRunning = 64
	mostLately  = 100
)

// live is where a run is. Its JSON is what the page gets, again and again.
type live struct {
	Run     string         `json:"run"`
	Start   string         `json:"start,omitempty"`
	Nodes   int            `json:"nodes"`
	Ended   bool           `json:"ended"`
	States  map[string]int `json:"states"`  // of nodes that are done
	Queued  int            `json:"queued"`  // nodes that are stale and have not begun
	Running []running      `json:"running"` // some of them, the earliest first
	Busy    int            `json:"busy"`    // how many there are
	Lately  []lately       `json:"lately"`  // what was judged or went wrong, the last first
	Counts  map[string]int `json:"counts"`  // of verdicts that are not served

	states map[string]event.State // of each node that is done
	queued map[string]bool
	began  map[string]int // the place in order of each node that runs
	order  []running
}

type running struct {
	Addr  string `json:"addr"`
	Start string `json:"start,omitempty"`
}

type lately struct {
	Addr    string `json:"addr"`
	Outcome string `json:"outcome"` // of a verdict, or a node's state
	Said    string `json:"said,omitempty"`
}

func newLive(run string) *live {
	return &live{Run: run, States: map[string]int{}, Running: []running{}, Lately: []lately{}, Counts: map[string]int{},
		states: map[string]event.State{}, queued: map[string]bool{}, began: map[string]int{}}
}

// add is one more event of the run.
func (l *live) add(e event.Event) {
	switch e := e.(type) {
	case event.RunStart:
		l.Nodes, l.Start = e.Nodes, timeText(e.Time)
	case event.NodeQueued:
		l.queued[e.Addr] = true
	case event.NodeStart:
		delete(l.queued, e.Addr)
		l.began[e.Addr] = len(l.order)
		l.order = append(l.order, running{e.Addr, timeText(e.Time)})
	case event.NodeRetry:
		l.end(e.Addr)
		l.queued[e.Addr] = true
		l.tell(lately{e.Addr, string(event.Broken), e.Reason})
	case event.NodeReopened:
		l.forget(e.Addr)
	case event.NodeDone:
		l.end(e.Addr)
		delete(l.queued, e.Addr)
		l.forget(e.Addr)
		l.states[e.Addr] = e.State
		l.States[string(e.State)]++
		if e.State == event.Failed || e.State == event.Broken || e.State == event.Timeout {
			l.tell(lately{e.Addr, string(e.State), e.Message})
		}
	case event.NodesSame:
		l.States[string(event.Cached)] += e.Nodes
	case event.Verdict:
		l.Counts[e.Outcome]++
		l.tell(lately{e.Addr, e.Outcome, e.Detail})
	case event.RunEnd:
		l.Ended = true
	}
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// end is the end of an attempt.
func (l *live) end(addr string) {
	if at, ok := l.began[addr]; ok {
		l.order[at].Addr = ""
		delete(l.began, addr)
	}
}

// forget takes the end of a node back.
func (l *live) forget(addr string) {
	if was, ok := l.states[addr]; ok {
		l.States[string(was)]--
		delete(l.states, addr)
	}
}

func (l *live) tell(what lately) {
	what.Said = cut(what.Said, keptMessage/16)
	l.Lately = append([]lately{what}, l.Lately[:min(len(l.Lately), mostLately-1)]...)
}

// snapshot is what the page gets.
func (l *live) snapshot() *live {
	kept := l.order[:0]
	for _, r := range l.order {
		if r.Addr != "" {
			l.began[r.Addr] = len(kept)
			kept = append(kept, r)
		}
	}
	l.order = kept
	out := *l
	out.Queued, out.Busy, out.Running = len(l.queued), len(kept), append([]running{}, kept[:min(len(kept), mostRunning)]...)
	return &out
}
