package lang

import (
	"fmt"
	"slices"
	"strings"
)

// evaluationOrder sorts declarations such that each follows its dependencies, otherwise in source order.
// Members of a cycle are reported and marked failed, but included, so that their other errors are found.
func (l *loader) evaluationOrder(decls []*decl) []*decl {
	walk := components{index: map[*decl]int{}, low: map[*decl]int{}, open: map[*decl]bool{}}
	for _, d := range decls {
		if walk.index[d] == 0 {
			walk.visit(d)
		}
	}
	order := make([]*decl, 0, len(decls))
	for _, group := range walk.groups {
		slices.SortFunc(group, func(a, b *decl) int { return walk.index[a] - walk.index[b] })
		if cycle := shortestCycle(group); cycle != nil {
			l.reportCycle(cycle)
			for _, d := range group {
				d.failed = true
			}
		}
		order = append(order, group...)
	}
	return order
}

// components finds strongly connected components by Tarjan's algorithm, in topological order, dependencies
// first.
type components struct {
	index, low map[*decl]int // from 1
	open       map[*decl]bool
	stack      []*decl
	groups     [][]*decl
}

func (c *components) visit(d *decl) {
	c.index[d] = len(c.index) + 1
	c.low[d] = c.index[d]
	c.stack = append(c.stack, d)
	c.open[d] = true
	for _, n := range d.needs {
		if c.index[n.to] == 0 {
			c.visit(n.to)
			c.low[d] = min(c.low[d], c.low[n.to])
		} else if c.open[n.to] {
			c.low[d] = min(c.low[d], c.index[n.to])
		}
	}
	if c.low[d] != c.index[d] {
		return
	}
	at := slices.Index(c.stack, d)
	group := slices.Clone(c.stack[at:])
	c.stack = c.stack[:at]
	for _, member := range group {
		c.open[member] = false
	}
	c.groups = append(c.groups, group)
}

// hop is one step of a cycle: from refers to need.to.
type hop struct {
	from *decl
	need need
}

// shortestCycle returns a shortest path from the group's first member back to itself, or nil if it is not
// part of a cycle.
func shortestCycle(group []*decl) []hop {
	start := group[0]
	came := map[*decl]hop{}
	queue := []*decl{start}
	for len(queue) > 0 {
		d := queue[0]
		queue = queue[1:]
		for _, n := range d.needs {
			if n.to == start {
				cycle := []hop{{d, n}}
				for at := d; at != start; at = came[at].from {
					cycle = append(cycle, came[at])
				}
				slices.Reverse(cycle)
				return cycle
			}
			if _, seen := came[n.to]; !seen && slices.Contains(group, n.to) {
				came[n.to] = hop{d, n}
				queue = append(queue, n.to)
			}
		}
	}
	return nil
}

func (l *loader) reportCycle(cycle []hop) {
	hops := make([]string, len(cycle))
	for i, h := range cycle {
		hops[i] = fmt.Sprintf("%s refers to %s at %s", l.refName(h.from), l.refName(h.need.to), place(h.need.rng))
	}
	l.report(finding{
		code: "cycle", summary: "Cycle of references",
		detail: strings.Join(hops, "; ") + ".",
		hint:   "break it at one of these references",
		rng:    cycle[0].need.rng,
	})
}

// refName returns the spelling of a reference to a declaration.
func (l *loader) refName(d *decl) string {
	if d.kind == "function" {
		return d.name() + "()"
	}
	return prefixOf(d.kind) + "." + strings.Join(d.path, ".")
}
