package graph

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// ID is a node's index in its graph.
type ID int32

// Task is the work of a node. The engine calls Describe before every decision about the node, and Run only
// if the node must run. It never calls methods of one task concurrently; tasks of different nodes run
// concurrently.
type Task interface {
	// Describe writes everything that can change the outputs, except for the dependencies' outputs, which the
	// engine adds. It can be slow: only nodes that depend on this one wait. An *InputError means that a source
	// in the configuration cannot be read.
	Describe(ctx context.Context, m *Manifest) error
	// Run does the work. An error means that the infrastructure failed: nothing is stored and the node can be
	// tried again. The Outcome is the result of work that ran to its end, good or bad.
	Run(ctx context.Context, w *Work) (Outcome, error)
}

// Predictor is a Task whose outputs can be predicted from the inputs of Describe, so that a plan can
// decide dependents without running it. It is called after Describe.
type Predictor interface {
	Predict() ([]cache.Output, error)
}

// Validator is a Task whose outputs refer to objects outside of the store that can disappear: an image, a
// machine. A stored answer is served only while Validate finds them.
type Validator interface {
	// Validate returns why stored outputs are no longer valid, in the form of a cause, or "" if they are
	// valid. It is called after Describe and before any dependent is described, and must be cheap for valid
	// outputs. An error means that this is unknown: the node is broken.
	Validate(ctx context.Context, outputs []cache.Output) (reason string, err error)
}

// Forgetter is a Task whose Describe keeps data for Run. Forget drops it, since an answer is stored.
type Forgetter interface {
	Forget()
}

// Outcome is the result of a node's work.
type Outcome struct {
	Class   cache.Class // "" means done
	Outputs []cache.Output
	Message string         // one line for users; required for failed and timeout
	Verdict *event.Verdict // of a grading node; without an address
}

// Label is an axis of a node, for selection: problem=kvstore.
type Label struct{ Name, Value string }

// Retry specifies how often broken work is attempted, and the pause before each further attempt. The zero
// value means one attempt.
type Retry struct {
	Attempts int
	Wait     time.Duration
	// Longest, if above 0, makes the pause double each time, up to this limit.
	Longest time.Duration
	// Failures also repeats work that failed itself.
	Failures bool
}

// pause returns the pause after a number of broken attempts.
func (r Retry) pause(broken int) time.Duration {
	wait := r.Wait
	for ; broken > 1 && wait < r.Longest; broken-- {
		wait = min(2*wait, r.Longest)
	}
	return wait
}

// Dep is an edge: the node consumes the named outputs of On under the name As, which is unique among its
// edges.
type Dep struct {
	On      ID
	As      string
	Outputs []string
	Shown   string // its name in causes; "" means As
}

// Node is a piece of work.
type Node struct {
	Addr   string  // unique and printable
	Kind   string  // materialize, tests, submission, pytest ...
	Labels []Label // besides the kind; nodes can share them
	Task   Task
	Deps   []Dep
	Pool   string // "" means the cpu pool
	Slots  int    // slots of the pool that its work takes, limited to 1..all
	// Exclusive names resources that only one running node at a time can use, in any pool: "port 8080".
	Exclusive []string
	// Probes names services that Describe queries and that are slow only the first time, such as a backend.
	// Until one node with a name has been described, no other node with that name is decided.
	Probes []string
	Retry  Retry
	// Kept means that outputs are read after the run, so the node is fresh only while the store has them.
	Kept bool
	// Pinned, if not nil, is the answer of a node that the caller knows to be fresh: the engine neither
	// decides nor reports it, at almost no cost. Its task runs only if an output is missing in the store or
	// damaged.
	Pinned *Answer
}

// Graph is a set of nodes, dependencies before dependents.
type Graph struct {
	blocks [][]Node // of blockSize nodes, except for the last; never copied, unlike a slice that grows
	byAddr map[string]ID
}

const blockSize = 256

// New returns an empty graph.
func New() *Graph { return &Graph{byAddr: map[string]ID{}} }

// Add appends a node. Its dependencies must have been added before, so cycles are impossible; a duplicate
// address is a bug of the caller.
func (g *Graph) Add(n Node) ID {
	id := ID(g.Len())
	if _, taken := g.byAddr[n.Addr]; taken {
		panic("graph: duplicate node address " + n.Addr)
	}
	for _, d := range n.Deps {
		if d.On < 0 || d.On >= id {
			panic(fmt.Sprintf("graph: node %s depends on a node that was not added before it", n.Addr))
		}
	}
	if id%blockSize == 0 {
		g.blocks = append(g.blocks, make([]Node, 0, blockSize))
	}
	last := &g.blocks[len(g.blocks)-1]
	*last = append(*last, n)
	g.byAddr[n.Addr] = id
	return id
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.byAddr) }

// Node returns the node with the given id; the caller must not change it.
func (g *Graph) Node(id ID) *Node { return &g.blocks[id/blockSize][id%blockSize] }

// Lookup finds a node by its address.
func (g *Graph) Lookup(addr string) (ID, bool) {
	id, ok := g.byAddr[addr]
	return id, ok
}

// Closure returns the targets and their dependencies in ascending, hence topological, order.
func (g *Graph) Closure(targets []ID) []ID {
	wanted := make([]bool, g.Len())
	for _, t := range targets {
		wanted[t] = true
	}
	var closure []ID
	for id := ID(g.Len()) - 1; id >= 0; id-- {
		if !wanted[id] {
			continue
		}
		closure = append(closure, id)
		for _, d := range g.Node(id).Deps {
			wanted[d.On] = true
		}
	}
	slices.Reverse(closure)
	return closure
}

// Label returns the value of the node's axis, or "".
func (n *Node) Label(name string) string {
	if name == "kind" {
		return n.Kind
	}
	for _, l := range n.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}
