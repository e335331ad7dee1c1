package page

import (
	"time"

	"github.com/fevalgraph/fevalgraph/event"
)

// Limits of the data about a running run.
const (
	mostRunning = 64
	mostLately  = 100
)

// live is the progress of a run. Its JSON is sent to the page after each change.
type live struct {
	Run     string         `json:"run"`
	Start   string         `json:"start,omitempty"`
	Nodes   int            `json:"nodes"`
	Ended   bool           `json:"ended"`
	States  map[string]int `json:"states"`  // states of nodes that are done
	Queued  int            `json:"queued"`  // stale nodes that have not begun
	Running []running      `json:"running"` // running nodes, the earliest first, at most mostRunning
	Busy    int            `json:"busy"`    // number of all running nodes
	Lately  []recentEvent  `json:"lately"`  // recent verdicts and errors, the latest first
	Counts  map[string]int `json:"counts"`  // verdicts, by outcome

	states map[string]event.State // state of each node that is done
	queued map[string]bool
	began  map[string]int // index in order of each running node
	order  []running
}

type running struct {
	Addr  string `json:"addr"`
	Start string `json:"start,omitempty"`
}

type recentEvent struct {
	Addr    string `json:"addr"`
	Outcome string `json:"outcome"` // outcome of a verdict, or state of a node
	Said    string `json:"said,omitempty"`
}

func newLive(run string) *live {
	return &live{Run: run, States: map[string]int{}, Running: []running{}, Lately: []recentEvent{}, Counts: map[string]int{},
		states: map[string]event.State{}, queued: map[string]bool{}, began: map[string]int{}}
}

// add applies an event of the run.
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
		l.addRecent(recentEvent{e.Addr, string(event.Broken), e.Reason})
	case event.NodeReopened:
		l.forget(e.Addr)
	case event.NodeDone:
		l.end(e.Addr)
		delete(l.queued, e.Addr)
		l.forget(e.Addr)
		l.states[e.Addr] = e.State
		l.States[string(e.State)]++
		if e.State == event.Failed || e.State == event.Broken || e.State == event.Timeout {
			l.addRecent(recentEvent{e.Addr, string(e.State), e.Message})
		}
	case event.NodesSame:
		l.States[string(event.Cached)] += e.Nodes
	case event.Verdict:
		l.Counts[e.Outcome]++
		l.addRecent(recentEvent{e.Addr, e.Outcome, e.Detail})
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

// end records the end of an attempt.
func (l *live) end(addr string) {
	if at, ok := l.began[addr]; ok {
		l.order[at].Addr = ""
		delete(l.began, addr)
	}
}

// forget removes the state of a node that was done.
func (l *live) forget(addr string) {
	if was, ok := l.states[addr]; ok {
		l.States[string(was)]--
		delete(l.states, addr)
	}
}

func (l *live) addRecent(what recentEvent) {
	what.Said = cut(what.Said, keptMessage/16)
	l.Lately = append([]recentEvent{what}, l.Lately[:min(len(l.Lately), mostLately-1)]...)
}

// snapshot returns a copy for the page.
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
