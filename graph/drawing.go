package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NodeState is the state of a node in a drawing, and the seconds of its work.
type NodeState struct {
	State   string // "" if unknown
	Seconds float64
}

// Drawing is the drawing of a part of a graph: boxes that represent nodes, in topological order of their
// first nodes.
type Drawing struct {
	Boxes []Box
	Edges [][2]int // pairs of boxes, from a dependency to its dependent; sorted and unique
}

// Box represents a node, or several folded nodes.
type Box struct {
	Name    string
	Nodes   int
	State   string // the most urgent one of its nodes
	Seconds float64
}

// colours lists the colours of states in drawings, the most urgent first.
var colours = []struct{ name, fill string }{
	{"broken", "#f4b6b0"}, {"failed", "#f4b6b0"}, {"error", "#f4b6b0"}, {"blocked", "#e3c8f0"}, {"stale", "#ffe2a0"}, {"new", "#cfe3ff"},
	{"skipped", "#e4e4e4"}, {"unknown", "#e4e4e4"}, {"fresh", "#cdebc9"},
}

func urgency(state string) int {
	for i, s := range colours {
		if s.name == state {
			return i
		}
	}
	return len(colours)
}

// Draw returns the drawing of some nodes, in topological order. fold returns the name of the box that a
// node shares; "" means a separate box.
func (g *Graph) Draw(ids []ID, stateOf func(ID) NodeState, fold func(*Node) string) *Drawing {
	d := &Drawing{}
	of, byName := make(map[ID]int, len(ids)), map[string]int{}
	for _, id := range ids {
		n, l := g.Node(id), stateOf(id)
		name := fold(n)
		at, known := byName[name]
		if name == "" || !known {
			at = len(d.Boxes)
			d.Boxes = append(d.Boxes, Box{Name: cmp.Or(name, n.Addr), State: l.State})
			if name != "" {
				byName[name] = at
			}
		}
		b := &d.Boxes[at]
		b.Nodes, b.Seconds = b.Nodes+1, b.Seconds+l.Seconds
		if urgency(l.State) < urgency(b.State) {
			b.State = l.State
		}
		of[id] = at
		for _, dep := range n.Deps {
			if from, in := of[dep.On]; in && from != at {
				d.Edges = append(d.Edges, [2]int{from, at})
			}
		}
	}
	slices.SortFunc(d.Edges, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	d.Edges = slices.Compact(d.Edges)
	return d
}

// Notes returns the lines below a box's name.
func (b *Box) Notes() string {
	var words []string
	if b.Nodes > 1 {
		words = append(words, fmt.Sprintf("%d nodes", b.Nodes))
	}
	if b.State != "" {
		words = append(words, b.State)
	}
	switch {
	case b.Seconds >= 60:
		words = append(words, fmt.Sprintf("%dm%02ds", int(b.Seconds)/60, int(b.Seconds)%60))
	case b.Seconds >= 1:
		words = append(words, fmt.Sprintf("%.1fs", b.Seconds))
	case b.Seconds >= 0.001:
		words = append(words, fmt.Sprintf("%dms", int(b.Seconds*1000)))
	}
	return strings.Join(words, ", ")
}

// fill returns the colour of a box, or "".
func (b *Box) fill() string {
	if at := urgency(b.State); at < len(colours) {
		return colours[at].fill
	}
	return ""
}
