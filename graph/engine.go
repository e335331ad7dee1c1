package graph

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// Locker lets one worker at a time, among all processes on a store, do the
// work of a key. It never waits for a holder.
type Locker interface {
	Lock(ctx context.Context, k cache.Key) (release func(), ok bool, err error)
}

// Options of one execution.
type Options struct {
	Store  cache.Store
	Locker Locker
	// Last returns what is known of a node from earlier executions, or the zero Last. Workers
	// call it, several at once. Nil knows nothing.
	Last  func(addr string) Last
	Sink  event.Sink
	Run   string         // id of the run, kept in records
	Pools map[string]int // slots by pool; "cpu" must be there
	Limits
	Preview
	Hooks
	// Backlog, when it is not nil, is kept up to date with what waits for the slots of pools.
	Backlog *Backlog
	// Profile, when it is not nil, receives where time went.
	Profile Profile
}

// Limits bound the decisions at a time, and how often a lock is tried.
type Limits struct {
	// Deciders bounds how many nodes describe themselves at once. Decisions take no slots.
	// They mostly wait: for files and backends. 0 is the slots of the largest pool, and at
	// least minDeciders.
	Deciders int
	// Lookups bounds how many decisions are under way, most of which wait for the store,
	// which can be on another machine. 0 is Deciders.
	Lookups int
	// LockPoll is the pause between attempts to take over a key that another process works on; 0 means the
	// default.
	LockPoll time.Duration
}

// Preview configures an execution that runs nothing.
type Preview struct {
	DryRun bool // decide, but run and write nothing
	// Manifests keeps the manifest of each node in its Status, in a dry run.
	Manifests bool
	// Pretend has a dry run go on as if stale nodes ran and succeeded: outputs that their tasks cannot predict are
	// digests that follow from their keys, so that each node gets a key. Every node is stale.
	Pretend bool
	// Rename replaces texts in manifests, such as a path by another; nil replaces none.
	Rename *strings.Replacer
}

// Hooks change the course of an execution. Each can be nil. Force, Refuse and the Sink are called one at a time, under
// the scheduler's lock: while they wait, nothing starts or ends.
type Hooks struct {
	// Force makes matching nodes stale regardless of the store.
	Force func(*Node) bool
	// Refuse returns why a stale node must not run; the node ends with that error.
	Refuse func(*Node) error
	// Stop is called for every node that ended; once it returns true, nothing new starts. Workers call it, several
	// at once and without the scheduler's lock: it can read the store. While a call is under way, no attempt starts
	// and no dependent of the node is decided.
	Stop func(ID, *Status) bool
	// SaveLog keeps what a broken attempt printed. It is safe for concurrent use.
	SaveLog func(addr string, attempt int, output []byte)
}

// CPUPool is the pool of nodes that name none.
const CPUPool = "cpu"

// defaultLockPoll keeps the wait for another process's result well below what
// users notice, at a cost of some system calls per second.
const defaultLockPoll = 50 * time.Millisecond

// minDeciders lets a machine with few slots have some requests under way to a
// store or a backend that is slow to answer.
const minDeciders = 8

// sourceRaceAttempts bounds how often a node is decided again because its
// sources changed while they were read.
const sourceRaceAttempts = 3

// Status is the decision of an execution about a node, and its outcome.
type Status struct {
	State     event.State // "" when a dry run found it stale
	Stale     bool        // its work had or has to run
	New       bool        // no earlier answer is known for its address
	Unknown   bool        // blocked, since a dry run must not determine whether it is fresh
	WasBroken bool        // the last attempt broke or failed
	WasFailed bool        // it failed
	Withheld  bool        // broken because Options.Refuse did not let it run
	Stored    bool        // the store has the answer under Key
	Earlier   bool        // it is cached, and its work was done earlier in the same run; for callers to set
	Input     bool        // failed because a source could not be used
	Foreign   bool        // the store has a record for its key, which another key signed
	Key       cache.Key   // zero when it could not be computed
	Class     cache.Class // of the answer, once there is one
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
	Run       string  // that made a cached node's answer; "" is unknown
}

// Output returns the output called name.
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
	Nodes    []ID     // the closure of the targets without pinned nodes, in topological order
	statuses []Status // by ID
	Seconds  float64
	g        *Graph
	run      string
	store    string            // ID
	before   func(string) Last // Options.Last

	Executed, Cached, Failed, Broken, Blocked, Skipped, Interrupted int
	InputErrors                                                     int // among Failed
	Preempted                                                       int // attempts that were made again because their machine was taken away
	Foreign                                                         int // nodes with a record that another key signed
}

// End returns the last event of a run, without the fields that only the caller knows.
func (r *Report) End(run string) event.RunEnd {
	return event.RunEnd{Type: "run.end", Run: run, Nodes: len(r.Nodes), Executed: r.Executed, Cached: r.Cached, Failed: r.Failed, Broken: r.Broken,
		Blocked: r.Blocked, Skipped: r.Skipped, Interrupted: r.Interrupted, Preempted: r.Preempted, Seconds: r.Seconds}
}

// Status returns what was decided about a node of the closure.
func (r *Report) Status(id ID) *Status { return &r.statuses[id] }

// With returns r with the outputs of nodes outside of the closure of its targets.
func (r *Report) With(outputs func(ID) []cache.Output) *Report {
	more := *r
	more.statuses = slices.Clone(r.statuses)
	decided := make([]bool, len(r.statuses))
	for _, id := range r.Nodes {
		decided[id] = true
	}
	for id := range more.statuses {
		if st := &more.statuses[id]; !decided[id] && st.Outputs == nil {
			st.Outputs = outputs(ID(id))
		}
	}
	return &more
}

// Execute brings the targets and all that they depend on up to date, or, in a
// dry run, reports what that would take. It returns when all goroutines that it
// started have; a cancelled ctx ends it early with nodes left interrupted. Nodes
// that fail or break are in the report; an error is a fault of the engine's own
// files.
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
	decided := slices.DeleteFunc(s.closure, func(id ID) bool { return g.nodes[id].Pinned != nil })
	r := &Report{Nodes: decided, statuses: s.status, Seconds: time.Since(started).Seconds(), g: g, run: o.Run, store: o.Store.ID(), before: o.Last}
	r.count()
	for _, times := range s.preemptions {
		r.Preempted += times
	}
	return r, err
}

// Saved returns how many bytes the cached nodes have as outputs, trees by their
// listing alone, and how many seconds it took to make them.
func (r *Report) Saved() (bytes int64, seconds float64) {
	for _, id := range r.Nodes {
		st := &r.statuses[id]
		if st.State != event.Cached || st.Earlier {
			continue
		}
		for _, o := range st.Outputs {
			bytes += o.Digest.Size
		}
		seconds += st.Saved
	}
	return bytes, seconds
}

func (r *Report) count() {
	for _, id := range r.Nodes {
		st := &r.statuses[id]
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
		inputs[i] = input{dep: &deps[i], state: st.State, message: st.Message, outputs: st.Outputs}
	}
	return newWork(g.Node(id).Addr, 1, store, inputs)
}
