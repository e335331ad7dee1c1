package graph

import "slices"

// Scope is a graph with the data about nodes that selectors need.
type Scope struct {
	Graph   *Graph
	Group   func(n *Node) string                      // name of the group that it belongs to; "" if none
	Values  func(n *Node, axis string) []string       // on an axis
	Readers func(path string) (set []bool, err error) // by ID: the nodes that read a file
}

// NeedsScope reports whether a term needs a Scope, so that Match cannot be used.
func (s *Selector) NeedsScope() bool { return s != nil && s.graph }

// Leaves returns the globs and axes of all terms, after expansion.
func (s *Selector) Leaves() []string { return s.leaves }

// Files returns the paths of the terms that name files.
func (s *Selector) Files() (paths []string) {
	var add func(all conjunction)
	add = func(all conjunction) {
		for i := range all {
			if all[i].function == functionFile {
				paths = append(paths, all[i].pattern)
			}
			for _, arg := range all[i].args {
				add(arg)
			}
		}
	}
	for _, all := range s.any {
		add(all)
	}
	return paths
}

// Nodes returns the set of the selected nodes, by ID.
func (s *Selector) Nodes(in Scope) ([]bool, error) {
	set := make([]bool, in.Graph.Len())
	for _, all := range s.any {
		picked, err := in.pick(all)
		if err != nil {
			return nil, err
		}
		for id := range set {
			set[id] = set[id] || picked[id]
		}
	}
	return set, nil
}

// pick evaluates a conjunction. It evaluates functions first, since each yields a set.
func (in Scope) pick(all conjunction) ([]bool, error) {
	sets := make(map[*term][]bool, len(all))
	for i := range all {
		t := &all[i]
		if t.function == "" {
			continue
		}
		set, err := in.call(t)
		if err != nil {
			return nil, err
		}
		sets[t] = set
	}
	picked := make([]bool, in.Graph.Len())
	for id := range picked {
		n := in.Graph.Node(ID(id))
		picked[id] = all.match(func(t *term) bool {
			if set, ok := sets[t]; ok {
				return set[id]
			}
			return t.match(n.Addr, func(axis string) []string { return in.Values(n, axis) }, []string{in.Group(n)})
		})
	}
	return picked, nil
}

// call evaluates a function.
func (in Scope) call(t *term) ([]bool, error) {
	if t.function == functionFile {
		return in.Readers(t.pattern)
	}
	sets := make([][]bool, len(t.args))
	for i, arg := range t.args {
		var err error
		if sets[i], err = in.pick(arg); err != nil {
			return nil, err
		}
	}
	switch t.function {
	case functionDeps:
		return in.Graph.addDependencies(sets[0]), nil
	case functionRdeps:
		return in.Graph.addDependents(sets[0]), nil
	case functionPath:
		return in.Graph.nodesBetween(sets[0], sets[1]), nil
	}
	return sets[0], nil
}

// addDependencies adds the dependencies of all nodes to a set.
func (g *Graph) addDependencies(set []bool) []bool {
	all := slices.Clone(set)
	for id := len(all) - 1; id >= 0; id-- { // dependencies come first
		if all[id] {
			for _, d := range g.Node(ID(id)).Deps {
				all[d.On] = true
			}
		}
	}
	return all
}

// addDependents adds the dependents of all nodes to a set.
func (g *Graph) addDependents(set []bool) []bool {
	all := slices.Clone(set)
	for id := range all {
		all[id] = all[id] || slices.ContainsFunc(g.Node(ID(id)).Deps, func(d Dep) bool { return all[d.On] })
	}
	return all
}

// nodesBetween returns the nodes on paths between those of two sets, in either direction.
func (g *Graph) nodesBetween(a, b []bool) []bool {
	belowA, aboveA, belowB, aboveB := g.addDependencies(a), g.addDependents(a), g.addDependencies(b), g.addDependents(b)
	on := make([]bool, len(a))
	for id := range on {
		on[id] = belowA[id] && aboveB[id] || belowB[id] && aboveA[id]
	}
	return on
}
