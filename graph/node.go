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
// if the decision is to run; never both at once, and never from two goroutines at a time. Methods of
// different nodes' tasks run concurrently.
type Task interface {
	// Describe writes everything that can change the outputs, except for the
	// dependencies' outputs, which the engine adds. It can take its time: only
	// nodes that depend on this one wait. An *InputError says that something the
	// user named cannot be read.
	Describe(ctx context.Context, m *Manifest) error
	// Run does the work. An error means that the machinery broke: nothing is
	// stored and the node can be tried again. The result of work that ran to its
	// end, good or bad, is in the Outcome.
	Run(ctx context.Context, w *Work) (Outcome, error)
}

// Predictor is a Task whose outputs follow from what Describe read, so that a
// plan can look past it without running it. It is called after Describe.
type Predictor interface {
	Predict() ([]cache.Output, error)
}

// Validator is a Task whose outputs name things outside of the store that can be
// removed behind its back: an image, a machine. A stored answer of it is served
// only while Validate finds them.
type Validator interface {
	// Validate returns why stored outputs are no longer valid, in words that make a
	// cause; "" when they are valid. It is called after Describe and before any
	// dependent is described, and must be cheap for valid outputs. An error means
	// that it cannot be known: the node is broken.
	Validate(ctx context.Context, outputs []cache.Output) (reason string, err error)
}

// Outcome is the result of a node's work.
type Outcome struct {
	Class   cache.Class // done when empty
	Outputs []cache.Output
	Message string         // one line for users; required for failed and timeout
	Verdict *event.Verdict // of a node that graded something; it needs no address
}

// Label is an axis of a node, for selection: problem=kvstore.
type Label struct{ Name, Value string }

// Retry describes how often broken work is tried, and the pause before each
// further attempt. The zero value is one attempt.
type Retry struct {
	Attempts int
	Wait     time.Duration
	// Longest, when it is above 0, has the pause double each time, up to it.
	Longest time.Duration
	// Failures has work done again that failed itself, too.
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

// Dep is an edge: the node consumes the named outputs of On and calls them As,
// a name that no other edge of the node has.
type Dep struct {
	On      ID
	As      string
	Outputs []string
}

// Node is a piece of work.
type Node struct {
	Addr   string  // unique and printable
	Kind   string  // materialize, tests, submission, pytest ...
	Labels []Label // besides the kind; nodes can share them
	Task   Task
	Deps   []Dep
	Pool   string // "" is the cpu pool
	Slots  int    // of the pool that its work takes, at most all; below 1 it is 1
	// Exclusive names things that only one running node at a time can use, in any
	// pool: "port 8080".
	Exclusive []string
	// Probes names what Describe asks and is slow to answer only the first time,
	// such as a backend. Until one node with a name has been described, no other
	// that has it is decided.
	Probes []string
	Retry  Retry
	// Tolerant nodes run even when dependencies have no outputs; Work.State
	// returns how those ended. Their outcome is then not stored.
	Tolerant bool
	// Kept nodes' outputs are read after the run, so they are fresh only
	// while the store still has them.
	Kept bool
	// Pinned, when it is not nil, is the answer of a node that the caller knows to
	// be fresh: the engine neither decides nor reports anything about it, and it costs
	// next to nothing. Its task runs only when an output turns out to be missing from
	// the store, or damaged.
	Pinned *Answer
}

// Graph is a set of nodes, dependencies before dependents.
type Graph struct {
	nodes  []Node
	byAddr map[string]ID
}

// New returns an empty graph.
func New() *Graph { return NewOf(0) }

// NewOf returns an empty graph with room for some nodes; more can be added.
func NewOf(nodes int) *Graph {
	return &Graph{nodes: make([]Node, 0, nodes), byAddr: make(map[string]ID, nodes)}
}

// Add appends a node. Its dependencies must have been added before, which
// makes cycles impossible; a repeated address is a bug of the caller.
func (g *Graph) Add(n Node) ID {
	id := ID(len(g.nodes))
	if _, taken := g.byAddr[n.Addr]; taken {
		panic("graph: duplicate node address " + n.Addr)
	}
	for _, d := range n.Deps {
		if d.On < 0 || d.On >= id {
			panic(fmt.Sprintf("graph: node %s depends on a node that was not added before it", n.Addr))
		}
	}
	g.nodes = append(g.nodes, n)
	g.byAddr[n.Addr] = id
	return id
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// Node returns the node with the given id; the caller must not change it.
func (g *Graph) Node(id ID) *Node { return &g.nodes[id] }

// Pin makes an answer known that is fresh: see Node.Pinned.
func (g *Graph) Pin(id ID, answer Answer) { g.nodes[id].Pinned = &answer }

// Lookup finds a node by its address.
func (g *Graph) Lookup(addr string) (ID, bool) {
	id, ok := g.byAddr[addr]
	return id, ok
}

// Closure returns the targets and everything that they depend on, in
// ascending, hence topological, order.
func (g *Graph) Closure(targets []ID) []ID {
	wanted := make([]bool, len(g.nodes))
	for _, t := range targets {
		wanted[t] = true
	}
	var closure []ID
	for id := ID(len(g.nodes)) - 1; id >= 0; id-- {
		if !wanted[id] {
			continue
		}
		closure = append(closure, id)
		for _, d := range g.nodes[id].Deps {
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
