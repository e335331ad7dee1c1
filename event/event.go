// Package event defines the events of a run, one JSON object per line, on stdout with --json and always in
// the record of the run. It does not know how a node works or how an event is shown.
//
// A Recorder writes the record, a directory:
//
//	runs/<id>/events.jsonl    the events
//	runs/<id>/manifest.json   the partition files that contain the results; the results of tasks
//	runs/<id>/logs/           output of attempts that broke
//	runs/<id>/sums            SHA-256 of these files and a proof by the user's key; written last
//	latest                    the last run that ended, except for runs of eval
//
// A Run reads it. A record without sums belongs to a run that is running or was killed, and has no
// results; an unproven record is a ForeignError, and a file that differs from its sum is a DamagedError.
package event

import (
	"fmt"
	"strings"
	"time"
)

// Schema is the version of the stream, in its first line. It changes only when a field changes its meaning;
// new fields can appear at any time.
const Schema = 1

// State is a node's final state in a run.
type State string

const (
	Done        State = "done"        // ran
	Cached      State = "cached"      // served without running
	Failed      State = "failed"      // a failure of the work itself
	Broken      State = "broken"      // infrastructure; never stored
	Timeout     State = "timeout"     // a limit in the key ended it; stored
	Blocked     State = "blocked"     // a dependency failed, broke or was skipped
	Skipped     State = "skipped"     // the machine lacks a device that it needs; never stored
	Interrupted State = "interrupted" // the run ended first, as if it was never started
)

// Event is one line of the stream.
type Event interface{ event() }

// Change is one difference between the manifests of two runs of a node.
type Change struct {
	Field string `json:"field"`         // label: "file tests/conftest.py", "timeout"
	Old   string `json:"old,omitempty"` // "" if the field is new
	New   string `json:"new,omitempty"` // "" if the field was removed
	Via   string `json:"via,omitempty"` // address of the dependency with the output
}

// Bounds on the changes of one event. A tree of files can have any number of changes, and every node that
// reads it repeats them.
const (
	maxChanges = 1000
	maxValue   = 2000 // bytes
)

// Bounded returns the changes that an event lists, with long values cut, and the number of
// those that it omits.
func Bounded(changes []Change) (listed []Change, omitted int) {
	cut := func(value string) string {
		if len(value) <= maxValue {
			return value
		}
		return strings.ToValidUTF8(value[:maxValue], "") + fmt.Sprintf("... (%d bytes)", len(value))
	}
	for _, c := range changes[:min(len(changes), maxChanges)] {
		c.Old, c.New = cut(c.Old), cut(c.New)
		listed = append(listed, c)
	}
	return listed, len(changes) - len(listed)
}

// RunStart is the first line.
type RunStart struct {
	Type    string    `json:"type"` // run.start
	Schema  int       `json:"schema"`
	Run     string    `json:"run"`
	Version string    `json:"version"`
	Nodes   int       `json:"nodes"`
	Time    time.Time `json:"time"`
	Project string    `json:"project,omitempty"`
	Jobs    int       `json:"jobs,omitempty"`
	// Selection is the selection of the call, as on the command line; "" means everything.
	Selection string `json:"selection,omitempty"`
	// Shard is the selected part of the cells, I/N. Divided means that a file from a plan specifies the cells
	// instead of their names.
	Shard   string `json:"shard,omitempty"`
	Divided bool   `json:"divided,omitempty"`
	// Partial reports that a selection left cells out. AdHoc reports that the run evaluated solutions that no
	// block declares; such a run never becomes the latest.
	Partial bool `json:"partial,omitempty"`
	AdHoc   bool `json:"ad_hoc,omitempty"`
}

// NodeQueued reports that a node is stale and why.
type NodeQueued struct {
	Type    string   `json:"type"` // node.queued
	Addr    string   `json:"addr"`
	Kind    string   `json:"kind"`
	Key     string   `json:"key,omitempty"`
	Cause   string   `json:"cause"`
	Changes []Change `json:"changes,omitempty"`
	Omitted int      `json:"changes_omitted,omitempty"` // further changes

	Category Category `json:"category,omitempty"` // of the cause
}

// NodeStart reports that a node's work begins.
type NodeStart struct {
	Type    string    `json:"type"` // node.start
	Addr    string    `json:"addr"`
	Kind    string    `json:"kind"`
	Attempt int       `json:"attempt"`
	Pool    string    `json:"pool,omitempty"` // whose slot it occupies
	Time    time.Time `json:"time,omitzero"`
}

// NodeRetry reports that an attempt broke and another follows after Wait seconds. An attempt whose machine
// was preempted is not counted: the next has the same number.
type NodeRetry struct {
	Type    string  `json:"type"` // node.retry
	Addr    string  `json:"addr"`
	Kind    string  `json:"kind"`
	Attempt int     `json:"attempt"` // the attempt that broke
	Reason  string  `json:"reason"`
	Wait    float64 `json:"wait"`
	// Preempted means that the machine was taken away.
	Preempted bool `json:"preempted,omitempty"`
}

// NodeNote is information that is not part of the result, such as files that a node left behind and how to
// access them.
type NodeNote struct {
	Type string `json:"type"` // node.note
	Addr string `json:"addr"`
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// NodeReopened revokes a NodeDone: the node's stored outputs are missing or damaged, or an input was
// produced again. Another NodeDone follows.
type NodeReopened struct {
	Type  string `json:"type"` // node.reopened
	Addr  string `json:"addr"`
	Kind  string `json:"kind"`
	State State  `json:"state"` // of the revoked NodeDone
	Cause string `json:"cause"`
}

// NodeDone is the last line of a node, unless a NodeReopened revokes it.
type NodeDone struct {
	Type    string   `json:"type"` // node.done
	Addr    string   `json:"addr"`
	Kind    string   `json:"kind"`
	State   State    `json:"state"`
	Key     string   `json:"key,omitempty"`
	Cause   string   `json:"cause"`
	Changes []Change `json:"changes,omitempty"`
	Omitted int      `json:"changes_omitted,omitempty"` // further changes
	Seconds float64  `json:"seconds"`
	Attempt int      `json:"attempt"`
	Message string   `json:"message,omitempty"`
	Log     string   `json:"log,omitempty"` // digest of the node's log, if any

	Category Category `json:"category,omitempty"` // of the cause, if the node was stale
	Fault    string   `json:"fault,omitempty"`    // kind of the error behind Message, if its task names one
	Needs    []string `json:"needs,omitempty"`    // dependencies of a node without a stored answer, unless there are too many
}

// Category classifies a cause in one word. Besides the constants, it can be the label of a changed
// input, such as "asset".
type Category string

// The categories that are not labels.
const (
	CauseNew     Category = "new"     // the node never ran
	CauseForced  Category = "forced"  // the call requires the work
	CauseBroken  Category = "broken"  // the last attempt broke
	CauseLost    Category = "lost"    // the store has lost the answer
	CauseChanged Category = "changed" // the inputs changed; it is unknown which
	CauseFollows Category = "follows" // a dependency is stale, so that the inputs are unknown
)

// Verdict follows the NodeDone of a node that has just graded a checkpoint. Served verdicts have no such
// event; the results contain them.
type Verdict struct {
	Type    string   `json:"type"` // verdict
	Addr    string   `json:"addr"`
	Outcome string   `json:"outcome"` // a verdict.Outcome: passed, scored, failed, not reached, errored
	Class   string   `json:"class"`   // a verdict.Class
	Score   *float64 `json:"score,omitempty"`
	Detail  string   `json:"detail,omitempty"` // "core 0/1, functionality 2/2"
}

// Generated is the result of a generator's attempt at a checkpoint. Only gen emits it, before the last
// event.
type Generated struct {
	Type         string   `json:"type"` // generated
	Generator    string   `json:"generator"`
	Problem      string   `json:"problem"`
	Checkpoint   string   `json:"checkpoint,omitempty"`
	Attempt      int      `json:"attempt"`
	Path         string   `json:"path"`             // path of its files
	Outcome      string   `json:"outcome"`          // written, same, kept, edited, unusable, no answer
	Asked        bool     `json:"asked"`            // in this call
	Reason       string   `json:"reason,omitempty"` // for unusable, and for no answer
	InputTokens  int64    `json:"input_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	Cost         *float64 `json:"cost,omitempty"` // dollars
}

// NodesSame replaces the NodeDone lines of nodes that were served without being decided one by one, because
// their dependencies are unchanged. They are the nodes in the partition file with the digest, in the state
// directory.
type NodesSame struct {
	Type      string `json:"type"` // nodes.same
	Problem   string `json:"problem"`
	Partition string `json:"partition"` // 64 hex digits
	Nodes     int    `json:"nodes"`
}

// RunEnd is the last line. Nodes = Executed + Cached + Blocked + Skipped + Interrupted;
// Failed and Broken count among Executed.
type RunEnd struct {
	Type        string  `json:"type"` // run.end
	Run         string  `json:"run"`
	Nodes       int     `json:"nodes"`
	Executed    int     `json:"executed"`
	Cached      int     `json:"cached"`
	Failed      int     `json:"failed"`
	Broken      int     `json:"broken"`
	Blocked     int     `json:"blocked"`
	Skipped     int     `json:"skipped,omitempty"`
	Interrupted int     `json:"interrupted"`
	Preempted   int     `json:"preempted,omitempty"` // attempts whose machine was taken away
	Seconds     float64 `json:"seconds"`
	Exit        int     `json:"exit"`
	Judged      int     `json:"judged,omitempty"`   // checkpoints for which this run executed work
	Verdicts    string  `json:"verdicts,omitempty"` // "2 cells, 6 checkpoints: 4 passed, 2 failed"
}

// RunAgain reports that the nodes are decided again, since the run made an output that earlier results do not rest
// on, or found results lost: each has another NodeDone. It is not in the record.
type RunAgain struct {
	Type  string `json:"type"`  // run.again
	Nodes int    `json:"nodes"` // that are decided now
}

func (RunStart) event()     {}
func (RunAgain) event()     {}
func (NodeQueued) event()   {}
func (NodeStart) event()    {}
func (NodeRetry) event()    {}
func (NodeNote) event()     {}
func (NodeReopened) event() {}
func (NodeDone) event()     {}
func (Verdict) event()      {}
func (NodesSame) event()    {}
func (Generated) event()    {}
func (RunEnd) event()       {}

// decoders maps the types of lines to their events.
var decoders = map[string]func(line []byte) Event{
	"run.start":     decodeAs[RunStart],
	"run.again":     decodeAs[RunAgain],
	"node.queued":   decodeAs[NodeQueued],
	"node.start":    decodeAs[NodeStart],
	"node.retry":    decodeAs[NodeRetry],
	"node.note":     decodeAs[NodeNote],
	"node.reopened": decodeAs[NodeReopened],
	"node.done":     decodeAs[NodeDone],
	"verdict":       decodeAs[Verdict],
	"generated":     decodeAs[Generated],
	"nodes.same":    decodeAs[NodesSame],
	"run.end":       decodeAs[RunEnd],
}

// Types returns an empty event of each type that lines have.
func Types() map[string]Event {
	all := make(map[string]Event, len(decoders))
	for name, decode := range decoders {
		all[name] = decode([]byte("{}"))
	}
	return all
}

// Sink receives the events of a run in order. Emit must not block for long and is called by one goroutine at
// a time.
type Sink interface{ Emit(Event) }

// Sinks sends every event to all of its members, in order.
type Sinks []Sink

// Emit implements Sink.
func (s Sinks) Emit(e Event) {
	for _, sink := range s {
		sink.Emit(e)
	}
}
