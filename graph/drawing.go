package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NodeState is the state of a node in a drawing, and the seconds of its work.
type NodeState struct {
	State   string // "" is not known
	Seconds float64
}

// Drawing is a part of a graph as it is shown: boxes that stand for nodes, in topological order of the
// first node of each.
type Drawing struct {
	boxes []box
	edges [][2]int // of boxes, from a dependency to its dependent; sorted, each once
}

// box stands for a node, or for nodes that are folded together.
type box struct {
	name    string
	nodes   int
	column  int    // of the first node
	state   string // the most urgent one of its nodes
	seconds float64
}

// colours are the colours of states in drawings, the most urgent first.
var colours = []struct{ name, fill string }{
	{"broken", "#f4b6b0"}, {"error", "#f4b6b0"}, {"blocked", "#e3c8f0"}, {"stale", "#ffe2a0"}, {"new", "#cfe3ff"},
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

// Draw returns the drawing of some nodes, in topological order. fold returns the name of the box of a node
// that others share; "" is a box for the node alone.
func (g *Graph) Draw(ids []ID, stateOf func(ID) NodeState, fold func(*Node) string) *Drawing {
	d := &Drawing{}
	of, byName := make(map[ID]int, len(ids)), map[string]int{}
	columns := g.columns(ids)
	for _, id := range ids {
		n, l := &g.nodes[id], stateOf(id)
		name := fold(n)
		at, known := byName[name]
		if name == "" || !known {
			at = len(d.boxes)
			d.boxes = append(d.boxes, box{name: cmp.Or(name, n.Addr), column: columns[id], state: l.State})
			if name != "" {
				byName[name] = at
			}
		}
		b := &d.boxes[at]
		b.nodes, b.seconds = b.nodes+1, b.seconds+l.Seconds
		if urgency(l.State) < urgency(b.state) {
			b.state = l.State
		}
		of[id] = at
		for _, dep := range n.Deps {
			if from, in := of[dep.On]; in && from != at {
				d.edges = append(d.edges, [2]int{from, at})
			}
		}
	}
	slices.SortFunc(d.edges, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[1], b[1]), cmp.Compare(a[0], b[0])) })
	d.edges = slices.Compact(d.edges)
	return d
}

// columns returns the column of each node. The nodes of a kind share one, unless some need others: edges
// lead to the right.
func (g *Graph) columns(ids []ID) map[ID]int {
	type column struct {
		depth int
		kind  string
	}
	of, all := make(map[ID]column, len(ids)), []column(nil)
	for _, id := range ids {
		n := &g.nodes[id]
		c := column{kind: n.Kind}
		for _, dep := range n.Deps {
			if on, in := of[dep.On]; in {
				c.depth = max(c.depth, on.depth+1)
			}
		}
		of[id] = c
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b column) int { return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.kind, b.kind)) })
	all = slices.Compact(all)
	numbers, columns := make(map[column]int, len(all)), make(map[ID]int, len(ids))
	for i, c := range all {
		numbers[c] = i
	}
	for id, c := range of {
		columns[id] = numbers[c]
	}
	return columns
}

// notes returns what is shown below a box's name.
func (b *box) notes() string {
	var words []string
	if b.nodes > 1 {
		words = append(words, fmt.Sprintf("%d nodes", b.nodes))
	}
	if b.state != "" {
		words = append(words, b.state)
	}
	switch {
	case b.seconds >= 60:
		words = append(words, fmt.Sprintf("%dm%02ds", int(b.seconds)/60, int(b.seconds)%60))
	case b.seconds >= 1:
		words = append(words, fmt.Sprintf("%.1fs", b.seconds))
	case b.seconds >= 0.001:
		words = append(words, fmt.Sprintf("%dms", int(b.seconds*1000)))
	}
	return strings.Join(words, ", ")
}

// fill returns the colour of a box, or "".
func (b *box) fill() string {
	if at := urgency(b.state); at < len(colours) {
		return colours[at].fill
	}
	return ""
}
