package graph

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// Locker locks keys, so that only one worker among all processes on a store does the work of a key. It
// never waits for a holder.
type Locker interface {
	Lock(ctx context.Context, k cache.Key) (release func(), ok bool, err error)
}

// Options configures an execution.
type Options struct {
	Store  cache.Store
	Locker Locker
	// Last returns the results of earlier executions for a node, or the zero Last. Workers call it
	// concurrently. Nil means that none are known.
	Last  func(addr string) Last
	Sink  event.Sink
	Run   string         // id of the run, kept in records
	Pools map[string]int // slots by pool; "cpu" is required
	Limits
	Preview
	Hooks
	// Backlog, if not nil, is updated with the nodes that wait for slots of pools.
	Backlog *Backlog
}

// Limits contains the limits on decisions, and the interval of attempts to lock a key.
type Limits struct {
	// Deciders limits how many nodes describe themselves concurrently. Decisions take no slots. They mostly
	// wait for files and backends. 0 means the slots of the largest pool, but at least minDeciders.
	Deciders int
	// Lookups limits the number of concurrent decisions. Most wait for the store, which can be on another
	// machine. 0 means Deciders.
	Lookups int
	// LockPoll is the pause between attempts to take over a key that another process works on; 0 means the
	// default.
	LockPoll time.Duration
}

// Preview configures an execution that runs nothing.
type Preview struct {
	DryRun bool // decide without running or writing anything
	// Manifests keeps the manifest of each node in its Status, in a dry run.
	Manifests bool
	// Pretend makes a dry run continue as if stale nodes had run and succeeded: outputs that tasks cannot
	// predict are replaced by digests derived from keys, so that each node gets a key.
	Pretend bool
	// Losses makes a dry run foresee that outputs which stale work reads and the store lacks are made again.
	Losses bool
	// Rename replaces strings in manifests, such as paths; nil replaces none.
	Rename *strings.Replacer
}

// Hooks change the course of an execution. Each can be nil. Force, Refuse and the Sink are called one at a
// time, under the scheduler's lock, and block all starts and ends.
type Hooks struct {
	// Force makes matching nodes stale regardless of the store.
	Force func(*Node) bool
	// Refuse returns why a stale node must not run; the node ends with that error.
	Refuse func(*Node) error
	// Stop is called for every node that ended; after it returns true, no further node starts. Workers call it
	// concurrently and without the scheduler's lock, so it can read the store. During a call, no attempt
	// starts and no dependent of the node is decided.
	Stop func(ID, *Status) bool
	// SaveLog stores the log of a broken attempt. It is safe for concurrent use.
	SaveLog func(addr string, attempt int, output []byte)
}

// CPUPool is the default pool of nodes.
const CPUPool = "cpu"

// defaultLockPoll is short enough that users do not notice the wait for another process's result, at a
// cost of some system calls per second.
const defaultLockPoll = 50 * time.Millisecond

// minDeciders allows a machine with few slots several concurrent requests to a slow store or backend.
const minDeciders = 8

// sourceRaceAttempts limits how often a node is decided again because its sources changed while they were
// read.
const sourceRaceAttempts = 3

// Status is an execution's decision about a node, and its outcome.
type Status struct {
	State     event.State // "" if a dry run found it stale
	Stale     bool        // its work ran, or must run
	New       bool        // no earlier answer is known for its address
	Unknown   bool        // blocked, since a dry run must not determine whether it is fresh
	WasBroken bool        // the last attempt broke or failed
	WasFailed bool        // it failed
	Withheld  bool        // broken because Options.Refuse did not let it run
	Stored    bool        // the store has the answer under Key
	Input     bool        // failed because a source could not be used
	Foreign   bool        // the store has a record for its key that another key signed
	Key       cache.Key   // zero if it could not be computed
	Class     cache.Class // of the answer, if any
	Outputs   []cache.Output
	Manifest  []byte // encoded; only of stale nodes, and with Options.Manifests
	Cause     string
	Category  event.Category
	Follows   string // of CauseFollows, the kind of the dependency
	Changes   []event.Change
	Message   string
	Fault     string // kind of the error behind Message; see Faulty
	Culprit   string // for blocked nodes, the address that failed or broke
	Attempts  int
	Seconds   float64
	Expected  float64 // seconds, from earlier runs; 0 means unknown
	Saved     float64 // seconds that a cached node's work took when it ran
	Run       string  // run that made a cached node's answer; "" if unknown
}

// Output returns the output with a name.
func (s *Status) Output(name string) (cache.Output, bool) {
	for _, o := range s.Outputs {
		if o.Name == name {
			return o, true
		}
	}
	return cache.Output{}, false
}

// Report is the result of an execution.
type Report struct {
	Nodes    []ID      // the closure of the targets without pinned nodes, in topological order
	statuses []*Status // by ID; nil for pinned nodes that the execution served, and outside of the closure
	Seconds  float64
	g        *Graph
	run      string
	store    string            // ID
	last     func(string) Last // Options.Last

	Executed, Cached, Failed, Broken, Blocked, Skipped, Interrupted int
	InputErrors                                                     int // among Failed
	Preempted                                                       int // attempts that were repeated because their machine was taken away
	Foreign                                                         int // nodes with a record that another key signed
}

// End returns the last event of a run, without fields that only the caller knows.
func (r *Report) End(run string) event.RunEnd {
	return event.RunEnd{Type: "run.end", Run: run, Nodes: len(r.Nodes), Executed: r.Executed, Cached: r.Cached, Failed: r.Failed, Broken: r.Broken,
		Blocked: r.Blocked, Skipped: r.Skipped, Interrupted: r.Interrupted, Preempted: r.Preempted, Seconds: r.Seconds}
}

// Status returns the status of a node of the closure.
func (r *Report) Status(id ID) *Status {
	if st := r.statuses[id]; st != nil {
		return st
	}
	return r.g.Node(id).pinnedStatus()
}

// IsCached reports whether a node of the closure was served a stored answer.
func (r *Report) IsCached(id ID) bool {
	if st := r.statuses[id]; st != nil {
		return st.State == event.Cached
	}
	return r.g.Node(id).Pinned != nil
}

// With returns a copy of r with additional outputs, of nodes outside of the closure of its targets.
func (r *Report) With(outputs func(ID) []cache.Output) *Report {
	more := *r
	more.statuses = slices.Clone(r.statuses)
	decided := make([]bool, len(r.statuses))
	for _, id := range r.Nodes {
		decided[id] = true
	}
	for id := range ID(len(more.statuses)) {
		if !decided[id] && r.Status(id).Outputs == nil {
			st := *r.Status(id)
			st.Outputs = outputs(id)
			more.statuses[id] = &st
		}
	}
	return &more
}

// Execute brings the targets and all of their dependencies up to date or, in a dry run, reports the
// necessary work. It returns when all of its goroutines have ended; if ctx is cancelled, it ends early and
// leaves nodes interrupted. The report contains failed and broken nodes; an error is only about the
// engine's own files.
func (g *Graph) Execute(ctx context.Context, targets []ID, o Options) (*Report, error) {
	if o.LockPoll == 0 {
		o.LockPoll = defaultLockPoll
	}
	if o.Deciders == 0 {
		o.Deciders = minDeciders
		for _, slots := range o.Pools {
			o.Deciders = max(o.Deciders, slots)
		}
	}
	o.Lookups = max(o.Lookups, o.Deciders)
	if o.Sink == nil {
		o.Sink = event.Sinks(nil)
	}
	if o.Last == nil {
		o.Last = func(string) Last { return Last{} }
	}
	started := time.Now()
	s := newScheduler(g, g.Closure(targets), o)
	err := s.run(ctx)
	decided := slices.DeleteFunc(s.closure, func(id ID) bool { return g.Node(id).Pinned != nil })
	r := &Report{Nodes: decided, statuses: s.status, Seconds: time.Since(started).Seconds(), g: g, run: o.Run, store: o.Store.ID(), last: o.Last}
	r.count()
	for _, times := range s.preemptions {
		r.Preempted += times
	}
	return r, err
}

func (r *Report) count() {
	for _, id := range r.Nodes {
		st := r.Status(id)
		if st.Foreign {
			r.Foreign++
		}
		switch st.State {
		case event.Cached:
			r.Cached++
		case event.Blocked:
			r.Blocked++
		case event.Skipped:
			r.Skipped++
		case event.Interrupted:
			r.Interrupted++
		case event.Done, event.Timeout:
			r.Executed++
		case event.Failed:
			r.Executed++
			r.Failed++
			if st.Input {
				r.InputErrors++
			}
		case event.Broken:
			r.Executed++
			r.Broken++
		}
	}
}

// Inputs returns the Work that a node's task would get after an execution that
// brought its dependencies up to date.
func (g *Graph) Inputs(r *Report, id ID, store cache.Store) *Work {
	deps := g.Node(id).Deps
	inputs := make([]input, len(deps))
	for i := range deps {
		st := r.Status(deps[i].On)
		inputs[i] = input{dep: &deps[i], state: st.State, outputs: st.Outputs}
	}
	return newWork(g.Node(id).Addr, 1, store, inputs)
}
