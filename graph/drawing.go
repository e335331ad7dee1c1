package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Look is the state of a node in a drawing, and the seconds of its work.
type Look struct {
	State   string // "" is not known
	Seconds float64
}

// Drawing is a part of a graph as it is shown: boxes that stand for nodes, in topological order of the
// first node of each.
type Drawing struct {
	boxes []box
	edges [][2]int // of boxes, from a dependency to its dependent; sorted, each once
}

// box stands for one node, or for those that are folded together.
type box struct {
	name    string
	nodes   int
	column  int    // of the first node's kind
	state   string // the most urgent one of its nodes
	seconds float64
}

// colours are those of states in drawings, the most urgent first.
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
func (g *Graph) Draw(ids []ID, look func(ID) Look, fold func(*Node) string) *Drawing {
	d := &Drawing{}
	of, byName := make(map[ID]int, len(ids)), map[string]int{}
	columns := g.columns(ids)
	for _, id := range ids {
		n, l := &g.nodes[id], look(id)
		name := fold(n)
		at, known := byName[name]
		if name == "" || !known {
			at = len(d.boxes)
			d.boxes = append(d.boxes, box{name: cmp.Or(name, n.Addr), column: columns[n.Kind], state: l.State})
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

// columns numbers the kinds of nodes by the longest way to a node of each.
func (g *Graph) columns(ids []ID) map[string]int {
	depth, deepest := make(map[ID]int, len(ids)), map[string]int{}
	for _, id := range ids {
		n := &g.nodes[id]
		for _, dep := range n.Deps {
			if at, in := depth[dep.On]; in {
				depth[id] = max(depth[id], at+1)
			}
		}
		if _, in := depth[id]; !in {
			depth[id] = 0
		}
		deepest[n.Kind] = max(deepest[n.Kind], depth[id])
	}
	kinds := make([]string, 0, len(deepest))
	for kind := range deepest {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int { return cmp.Or(cmp.Compare(deepest[a], deepest[b]), cmp.Compare(a, b)) })
	columns := map[string]int{}
	for i, kind := range kinds {
		columns[kind] = i
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

// fill returns the colour of a box; "" is none.
func (b *box) fill() string {
	if at := urgency(b.state); at < len(colours) {
		return colours[at].fill
	}
	return ""
}
