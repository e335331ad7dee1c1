package graph

import (
	"context"
	"fmt"
	"slices"

	"github.com/fevalgraph/fevalgraph/cache"
	"github.com/fevalgraph/fevalgraph/event"
)

// Row is a node with its answer, but without its task. Callers store fresh nodes in this form and add them
// to graphs again.
type Row struct {
	Addr   string
	Kind   string
	Labels []Label
	Deps   []int32 // positions of rows before this one
	Answer
}

// RowsOf returns the rows of some nodes and of everything that they depend on, in topological order. Nodes
// without a row have no answer that the next execution can serve; failed ones have a row without outputs. ok reports
// whether all have an answer.
func (g *Graph) RowsOf(targets []ID, r *Report) (rows []Row, ok bool) {
	closure := g.closureBelow(targets)
	place := make(map[ID]int32, len(closure))
	rows, ok = make([]Row, 0, len(closure)), true
	for _, id := range closure {
		n, st := g.Node(id), r.Status(id)
		if !st.isServable() {
			ok = false
			if st.State != event.Failed || st.Key.IsZero() {
				continue
			}
		}
		place[id] = int32(len(rows))
		row := Row{Addr: n.Addr, Kind: n.Kind, Labels: n.Labels, Answer: r.answer(id)}
		for _, d := range n.Deps {
			if at, has := place[d.On]; has {
				row.Deps = append(row.Deps, at)
			}
		}
		rows = append(rows, row)
	}
	return rows, ok
}

// isServable reports whether the node has an answer that the next execution can serve.
func (s *Status) isServable() bool {
	return s.State == event.Cached || s.State == event.Done || s.State == event.Timeout
}

// closureBelow returns the same as Closure, at a cost that depends only on the size of the closure.
func (g *Graph) closureBelow(targets []ID) []ID {
	seen := map[ID]bool{}
	var closure []ID
	for stack := slices.Clone(targets); len(stack) > 0; {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[id] {
			continue
		}
		seen[id] = true
		closure = append(closure, id)
		for _, d := range g.Node(id).Deps {
			stack = append(stack, d.On)
		}
	}
	slices.Sort(closure) // ascending is topological
	return closure
}

// Answer is the frequently used part of a stored record.
type Answer struct {
	Key     cache.Key
	Class   cache.Class
	Outputs []cache.Output
	Message string
	Seconds float64 // that the work took when it ran
	Run     string  // run that made it
}

// status returns the status of a node that the answer serves.
func (a Answer) status() Status {
	return Status{State: event.Cached, Key: a.Key, Class: a.Class, Stored: true, Outputs: a.Outputs, Message: a.Message, Cause: cachedCause(a.Run), Saved: a.Seconds, Run: a.Run}
}

// pinnedStatus returns the status of a node that the engine does not decide: that of its answer, or an empty one if it
// is not pinned, and outside of the closure.
func (n *Node) pinnedStatus() *Status {
	st := new(Status)
	if n.Pinned != nil {
		*st = n.Pinned.status()
		st.Class = cache.ClassDone
	}
	return st
}

// Event returns the event of the node when it is served.
func (r *Row) Event() event.NodeDone {
	st := r.status()
	return doneEvent(r.Addr, r.Kind, &st)
}

// PinnedEvent returns the event of a pinned node, which the engine does not report, for callers that do.
func (n *Node) PinnedEvent() event.NodeDone {
	st := n.Pinned.status()
	return doneEvent(n.Addr, n.Kind, &st)
}

// AddRows adds nodes that are pinned to their answers, except for those whose
// addresses the graph has. It keeps the rows, and shares equal lists among them.
func (g *Graph) AddRows(rows []Row) {
	ids := make([]ID, len(rows))
	for i := range rows {
		row := &rows[i]
		if known, ok := g.Lookup(row.Addr); ok {
			ids[i] = known
			continue
		}
		if i > 0 && slices.Equal(row.Labels, rows[i-1].Labels) {
			row.Labels = rows[i-1].Labels // one list for the nodes of a checkpoint
		}
		n := Node{Addr: row.Addr, Kind: row.Kind, Labels: row.Labels, Task: pinnedTask{}, Pinned: &row.Answer}
		if len(row.Deps) > 0 {
			n.Deps = make([]Dep, len(row.Deps))
		}
		for j, on := range row.Deps {
			n.Deps[j] = Dep{On: ids[on], As: g.Node(ids[on]).Addr}
		}
		ids[i] = g.Add(n)
	}
}

// PinnedError reports that the work of a pinned node is needed: an output is missing in the store or
// damaged. The caller must compile the node.
type PinnedError struct{ Addr string }

func (e *PinnedError) Error() string {
	return fmt.Sprintf("an output of %s is no longer in the store", e.Addr)
}

// pinnedTask is the task of a node that was added from a row.
type pinnedTask struct{}

func (pinnedTask) Describe(context.Context, *Manifest) error { return nil }

func (pinnedTask) Run(_ context.Context, w *Work) (Outcome, error) {
	return Outcome{}, &PinnedError{Addr: w.Addr}
}
